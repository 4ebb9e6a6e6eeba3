import { hashOf } from '../decision/index.js';

/** Number of small maps, a power of two. Each stays small, also with 100,000 names. */
const MAPS = 512;

/**
 * A map of many names, some of which come and go all the time.
 *
 * A `Map` of V8 keeps a deleted key in the chain of its hash until it grows or is packed, which a large map rarely is: a
 * name that came and went thousands of times beside 20,000 others took 20 to 100 µs for each access. Here names are
 * spread over small maps, which are packed often.
 */
export class SpreadMap<V> {
  readonly #maps: (Map<string, V> | undefined)[] = Array.from({ length: MAPS });
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get(name: string): V | undefined {
    return this.#maps[placeOf(name)]?.get(name);
  }

  set(name: string, value: V): void {
    const map = (this.#maps[placeOf(name)] ??= new Map<string, V>());
    const former = map.size;
    map.set(name, value);
    this.#size += map.size - former;
  }

  delete(name: string): void {
    if (this.#maps[placeOf(name)]?.delete(name)) this.#size--;
  }

  *[Symbol.iterator](): Generator<[string, V]> {
    for (const map of this.#maps) if (map) yield* map;
  }

  *values(): Generator<V> {
    for (const [, value] of this) yield value;
  }
}

function placeOf(name: string): number {
  return hashOf(name) & (MAPS - 1);
}
