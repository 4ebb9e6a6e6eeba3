import { hashOf } from '../decision/index.js';

/** Number of small maps, a power of two. Each stays small, also with 100,000 names. */
const MAPS = 512;

/** A small map, with the name that was taken out of it last. */
interface Part<V> {
  readonly values: Map<string, V | undefined>;
  /** Still a key of `values`, with the value undefined. */
  left: string | undefined;
}

/**
 * A map of many names, some of which come and go all the time.
 *
 * A `Map` of V8 keeps a deleted key in the chain of its hash until it grows or is packed, which a large map rarely is: a
 * name that came and went thousands of times beside 20,000 others took 20 to 100 µs for each access. Here names are
 * spread over small maps, which are packed often, and the key of a name that has gone stays until another one goes.
 */
export class SpreadMap<V> {
  readonly #parts: (Part<V> | undefined)[] = Array.from({ length: MAPS });
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get(name: string): V | undefined {
    return this.#parts[placeOf(name)]?.values.get(name);
  }

  set(name: string, value: V): void {
    const part = (this.#parts[placeOf(name)] ??= { values: new Map(), left: undefined });
    if (part.values.get(name) === undefined) this.#size++;
    if (part.left === name) part.left = undefined;
    part.values.set(name, value);
  }

  delete(name: string): void {
    const part = this.#parts[placeOf(name)];
    if (part?.values.get(name) === undefined) return;
    if (part.left !== undefined) part.values.delete(part.left);
    part.values.set(name, undefined);
    part.left = name;
    this.#size--;
  }

  *[Symbol.iterator](): Generator<[string, V]> {
    for (const part of this.#parts) {
      for (const [name, value] of part?.values ?? []) if (value !== undefined) yield [name, value];
    }
  }

  *values(): Generator<V> {
    for (const [, value] of this) yield value;
  }
}

function placeOf(name: string): number {
  return hashOf(name) & (MAPS - 1);
}
