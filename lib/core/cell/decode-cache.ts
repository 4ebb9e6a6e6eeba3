import type { Pieces } from '../async/slices.js';

interface Decoded<T> {
  readonly text: string;
  readonly value: T;
}

/**
 * Decodes listed texts, and decodes a text again only if it has changed. Between two listings most records do not
 * change, and decoding all of them would be the largest cost of an overview.
 */
export class DecodeCache<T> {
  #last: ReadonlyMap<string, Decoded<T>> = new Map();

  /**
   * @param decode must be deterministic. Its results are shared and must not be changed. It works in pieces, because
   *   decoding thousands of texts, or one long text, in one go would block the event loop
   */
  constructor(private readonly decode: (key: string, text: string) => Pieces<T>) {}

  /** The last whole list, by key. */
  *last(): Generator<[string, T]> {
    for (const [key, { value }] of this.#last) yield [key, value];
  }

  /** Decodes a whole list, by key. Forgets texts that are not in this list. */
  *all(texts: ReadonlyMap<string, string>): Pieces<Map<string, T>> {
    const decoded = new Map<string, Decoded<T>>();
    const values = yield* this.#decodeAll(texts, decoded);
    this.#last = decoded;
    return values;
  }

  /** Decodes a part of a list, by key. Forgets nothing. */
  some(texts: ReadonlyMap<string, string>): Pieces<Map<string, T>> {
    return this.#decodeAll(texts, new Map());
  }

  /** @param decoded each value is added to it, with its text */
  *#decodeAll(texts: ReadonlyMap<string, string>, decoded: Map<string, Decoded<T>>): Pieces<Map<string, T>> {
    const values = new Map<string, T>();
    for (const [key, text] of texts) {
      const last = this.#last.get(key);
      const each = last?.text === text ? last : { text, value: yield* this.decode(key, text) };
      decoded.set(key, each);
      values.set(key, each.value);
      yield 1;
    }
    return values;
  }
}
