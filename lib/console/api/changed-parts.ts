import { createHash, type Hash } from 'node:crypto';
import { hashOf } from '../../core/decision/index.js';
import type { Pieces } from '../../core/async/slices.js';

/** Number of parts of a list. With 1,000 entries a part has two, and the digests of all have 2 kB. */
const PARTS = 512;
/** Bytes of a part's digest. One of 16 million changes is seen only with the next change of its part. */
const DIGEST = 3;

/** A part of a list as it is now. */
export interface ChangedPart<Item> {
  /** Number of the part, which follows from the names of its entries. */
  readonly part: number;
  /** All entries of this part. They replace those that the client has. */
  readonly items: readonly Item[];
}

export interface PartedList<Item> {
  /** The client sends it with its next request. Absent if nothing changed: then it sends the former one again. */
  readonly known?: string;
  /** The parts that differ from those that the client knows, by number. */
  readonly changed: readonly ChangedPart<Item>[];
}

/**
 * Divides a list into parts, and leaves out those that the client knows. Nothing is kept between requests, so the next
 * request may reach another node.
 *
 * @param known of the client's last answer that had one; all parts are new if it is absent, or from another version
 * @param essenceOf what makes a change, without running times
 */
export function* changedParts<Item extends { readonly name: string }>(
  items: readonly Item[],
  known: string | undefined,
  essenceOf: (item: Item) => unknown,
): Pieces<PartedList<Item>> {
  const parts = new Map<number, { readonly items: Item[]; readonly hash: Hash }>();
  for (const item of items) {
    const number = hashOf(item.name) % PARTS;
    const part = parts.get(number) ?? { items: [], hash: createHash('sha256') };
    parts.set(number, part);
    part.items.push(item);
    // A line break separates the entries, because this JSON contains none.
    part.hash.update(`${JSON.stringify(essenceOf(item))}\n`);
    yield 1;
  }
  const before = digestsOf(known);
  const digests = Buffer.alloc(PARTS * DIGEST);
  const changed: ChangedPart<Item>[] = [];
  for (let number = 0; number < PARTS; number++) {
    const part = parts.get(number);
    const [begin, end] = [number * DIGEST, (number + 1) * DIGEST];
    part?.hash.digest().copy(digests, begin, 0, DIGEST);
    const isKnown = digests.subarray(begin, end).equals(before.subarray(begin, end));
    if (!isKnown) changed.push({ part: number, items: part?.items ?? [] });
  }
  return changed.length === 0 ? { changed } : { known: digests.toString('base64url'), changed };
}

/** The digests of the client's parts. An empty part has zeros. */
function digestsOf(known: string | undefined): Buffer {
  const digests = Buffer.from(known ?? '', 'base64url');
  return digests.length === PARTS * DIGEST ? digests : Buffer.alloc(PARTS * DIGEST);
}
