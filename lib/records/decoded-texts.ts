import type { Pieces } from '../async/slices.js';

interface Decoded<T> {
  readonly text: string;
  readonly value: T;
}

/**
 * Decodes what is listed again and again, each text anew only when it is another than the last time: of a thousand
 * records most are as they were, and checking them all would be the largest part of an overview's cost.
 */
export class DecodedTexts<T> {
  #last: ReadonlyMap<string, Decoded<T>> = new Map();

  /** @param decode must give the same for the same; what it gives is shared, and never changed */
  constructor(private readonly decode: (key: string, text: string) => T) {}

  /** By key, of a whole list. What is not listed any more is forgotten. */
  all(texts: ReadonlyMap<string, string>): Map<string, T> {
    this.#last = this.#decoded(texts);
    return valuesOf(this.#last);
  }

  /** As {@link all}, for thousands of texts: decoding them in one go would block everything else. */
  *allInPieces(texts: ReadonlyMap<string, string>): Pieces<Map<string, T>> {
    const decoded = new Map<string, Decoded<T>>();
    for (const [key, text] of texts) {
      decoded.set(key, this.#decode(key, text));
      yield 1;
    }
    this.#last = decoded;
    return valuesOf(decoded);
  }

  /** By key, of a part of the list. */
  some(texts: ReadonlyMap<string, string>): Map<string, T> {
    return valuesOf(this.#decoded(texts));
  }

  #decoded(texts: ReadonlyMap<string, string>): Map<string, Decoded<T>> {
    return new Map([...texts].map(([key, text]) => [key, this.#decode(key, text)]));
  }

  #decode(key: string, text: string): Decoded<T> {
    const last = this.#last.get(key);
    return last?.text === text ? last : { text, value: this.decode(key, text) };
  }
}

function valuesOf<T>(decoded: ReadonlyMap<string, Decoded<T>>): Map<string, T> {
  return new Map([...decoded].map(([key, { value }]) => [key, value]));
}
