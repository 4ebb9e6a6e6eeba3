/** Characters that are read at once. A store's client makes them all text in one turn of the event loop. */
const CHARACTERS = 1024 * 1024;
/** Texts that are read at once while their size is not known. */
export const FIRST_BATCH = 16;
/** Characters of a text behind which others are read: its place, and the whole id. */
const MARK = 1200;

/** Texts for the next read, if they are as large as these, which the last one found. At least 1. */
export function batchAfter(texts: readonly string[]): number {
  const characters = texts.reduce((total, text) => total + text.length, 1);
  return Math.max(1, Math.floor((CHARACTERS * Math.max(1, texts.length)) / characters));
}

/** Limits of the texts that go together. */
interface BatchLimits {
  /** A longer text goes alone. */
  readonly characters?: number;
  /** Number of texts. Default: no limit */
  readonly most?: number;
}

/** Divides texts that are written at once. */
export function batchesOf(
  texts: readonly string[],
  { characters = CHARACTERS, most = Infinity }: BatchLimits = {},
): string[][] {
  const batches: string[][] = [];
  let [room, left] = [0, 0];
  for (const text of texts) {
    if (left === 0 || room < text.length) {
      batches.push([]);
      [room, left] = [characters, most];
    }
    batches.at(-1)!.push(text);
    room -= text.length;
    left--;
  }
  return batches;
}

/** Divides texts into portions of `most` texts at most, whatever their size is. */
export function portionsOf(texts: readonly string[], most: number): string[][] {
  return batchesOf(texts, { characters: Infinity, most });
}

/** Where a range begins that goes on behind a text. Without the whole text: it may be large, and would be sent to the store. */
export function behindText(text: string): string {
  return text.length <= MARK ? `${text}\u0000` : `${text.slice(0, MARK)}\uffff`;
}
