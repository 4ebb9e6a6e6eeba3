/** Two arguments of a script that stand for any number of texts. See {@link TextPacker}. */
export type PackedTexts = readonly [numbers: string, texts: Buffer];

/**
 * Packs the texts of many writes into two arguments of a script. A client spends more time on an argument of its own than on
 * its bytes: with five arguments for each write, it spent a third of a node's time on them.
 *
 * `numbers` has one number after another, with blanks between: what {@link number} added, and for each text its length in
 * bytes of UTF-8. `texts` has all texts, one behind the other. {@link READ_PACKED} reads both.
 */
export class TextPacker {
  readonly #numbers: number[] = [];
  readonly #texts: string[] = [];
  readonly #places: number[] = [];

  /** @param number a whole number, not negative */
  number(number: number): void {
    this.#numbers.push(number);
  }

  text(text: string): void {
    this.#places.push(this.#numbers.length);
    this.#numbers.push(text.length);
    this.#texts.push(text);
  }

  pack(): PackedTexts {
    const all = Buffer.from(this.#texts.join(''));
    // As many bytes as UTF-16 units: all texts are ASCII, as nearly always, and each has the length that was noted.
    const texts = all.length === this.#units ? all : this.#packEach();
    return [this.#numbers.join(' '), texts];
  }

  get #units(): number {
    return this.#places.reduce((sum, place) => sum + this.#numbers[place]!, 0);
  }

  /** Each text by itself: half a character at the end of a text must not join with one at the beginning of the next. */
  #packEach(): Buffer {
    const each = this.#texts.map((text) => Buffer.from(text));
    for (const [index, place] of this.#places.entries()) this.#numbers[place] = each[index]!.length;
    return Buffer.concat(each);
  }
}

/** Lua that defines `number()` and `text()`, which read what was packed in the same order. ARGV: packed texts. */
export const READ_PACKED = `
local number = string.gmatch(ARGV[1], '%d+')
local last = 0
local function text()
  local first = last + 1
  last = last + number()
  return string.sub(ARGV[2], first, last)
end
`;
