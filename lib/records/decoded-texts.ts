import type { Pieces } from '../async/slices.js';

interface Decoded<T> {
  readonly text: string;
  readonly value: T;
}

/**
 * Decodes listed texts, and decodes a text again only if it has changed. Most of a thousand records are unchanged between
 * two listings, and decoding all of them would be the largest cost of an overview.
 */
export class DecodedTexts<T> {
  #last: ReadonlyMap<string, Decoded<T>> = new Map();

  /**
   * @param decode must be deterministic; its results are shared and must not be changed. It works in pieces:
   *   decoding thousands of texts, or a long one, in one go would block everything else
   */
  constructor(private readonly decode: (key: string, text: string) => Pieces<T>) {}

  /** By key, of a whole list. What is not listed any more is forgotten. */
  *all(texts: ReadonlyMap<string, string>): Pieces<Map<string, T>> {
    const decoded = new Map<string, Decoded<T>>();
    const values = yield* this.#decodeAll(texts, decoded);
    this.#last = decoded;
    return values;
  }

  /** By key, of a part of the list. */
  some(texts: ReadonlyMap<string, string>): Pieces<Map<string, T>> {
    return this.#decodeAll(texts, new Map());
  }

  /** @param decoded gets each value with its text */
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
