/** Bits of one page. */
export const PAGE_BITS = 1024;

/** A set of places in a page, as a text of base 64. Places count from 0. */
export class Bits {
  constructor(private readonly bytes: Uint8Array = new Uint8Array(PAGE_BITS / 8)) {}

  static parse(text: string): Bits {
    const bytes = new Uint8Array(PAGE_BITS / 8);
    bytes.set(Buffer.from(text, 'base64').subarray(0, bytes.length));
    return new Bits(bytes);
  }

  has(place: number): boolean {
    return (this.bytes[place >> 3]! & (1 << (place & 7))) !== 0;
  }

  with(places: Iterable<number>): Bits {
    const bytes = this.bytes.slice();
    for (const place of places) bytes[place >> 3]! |= 1 << (place & 7);
    return new Bits(bytes);
  }

  /** Number of places in the set. */
  get size(): number {
    let size = 0;
    for (let place = 0; place < PAGE_BITS; place++) if (this.has(place)) size++;
    return size;
  }

  /** Whether the first `count` places are in the set. */
  covers(count: number): boolean {
    for (let place = 0; place < count; place++) if (!this.has(place)) return false;
    return true;
  }

  toString(): string {
    return Buffer.from(this.bytes).toString('base64');
  }
}
