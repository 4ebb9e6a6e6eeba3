import type { Pieces } from '../../async/slices.js';
import { eachInPieces } from '../each-in-pieces.js';
import { type AllocationRoot, type Withdrawal, pageKeysOf } from './root.js';

/** Resources of one member. A page never changes: a change of the map writes new pages under new keys. */
export interface OwnedPage {
  readonly v: typeof PAGE_VERSION;
  readonly owned: readonly OwnedItem[];
}

/** Resources that their member got with one token. */
export type OwnedItem = readonly [token: number, ids: readonly string[]];

/** Resources that were taken away and may not be granted yet. */
export interface LimboPage {
  readonly v: typeof PAGE_VERSION;
  readonly limbo: readonly LimboItem[];
}

/** Resources that one root took away from one member. */
export type LimboItem = readonly [from: string, seq: number, ids: readonly string[]];

export const PAGE_VERSION = 1;
/** Largest number of resources in one page: it is read and written as a whole. */
export const MOST_IN_PAGE = 1000;
/** Largest number of characters of the ids in one page. */
const MOST_CHARACTERS = 256 * 1024;

/** Divides the resources of one member into pages. */
export function* ownedPages(items: Iterable<readonly [id: string, token: number]>): Pieces<OwnedPage[]> {
  const chunks = yield* chunksOf(items, ([id]) => id);
  return chunks.map((chunk) => ({
    v: PAGE_VERSION,
    owned: grouped(
      chunk,
      (token) => String(token),
      (token, ids) => [token, ids],
    ),
  }));
}

/** Divides the resources in limbo into pages. */
export function* limboPages(items: Iterable<readonly [id: string, withdrawal: Withdrawal]>): Pieces<LimboPage[]> {
  const chunks = yield* chunksOf(items, ([id]) => id);
  return chunks.map((chunk) => ({
    v: PAGE_VERSION,
    limbo: grouped(
      chunk,
      ({ from, seq }) => `${seq}/${from}`,
      ({ from, seq }, ids): LimboItem => [from, seq, ids],
    ),
  }));
}

function* chunksOf<T>(items: Iterable<T>, idOf: (item: T) => string): Pieces<T[][]> {
  const chunks: T[][] = [];
  let characters = 0;
  yield* eachInPieces(items, (item) => {
    const { length } = idOf(item);
    const last = chunks.at(-1);
    characters += length;
    if (last && last.length < MOST_IN_PAGE && characters <= MOST_CHARACTERS) return void last.push(item);
    chunks.push([item]);
    characters = length;
  });
  return chunks;
}

function grouped<V, Item>(
  entries: readonly (readonly [id: string, value: V])[],
  keyOf: (value: V) => string,
  itemOf: (value: V, ids: readonly string[]) => Item,
): Item[] {
  const groups = new Map<string, { readonly value: V; readonly ids: string[] }>();
  for (const [id, value] of entries) {
    const key = keyOf(value);
    const group = groups.get(key) ?? { value, ids: [] };
    groups.set(key, group);
    group.ids.push(id);
  }
  return [...groups.values()].map(({ value, ids }) => itemOf(value, ids));
}

/**
 * Key of a new page, within its group. It says on which root the page was decided, because pages are written before
 * their root.
 *
 * @param root the root that is replaced
 */
export function pageKey({ born, seq }: AllocationRoot, nonce: string, index: number): string {
  return `${born}/${seq + 1}/${nonce}/${index}`;
}

/**
 * The pages of a list that can be deleted: the root does not have them, and no commit that is under way can bring them in.
 * A commit with such a page succeeds only while the root is the one that the page was decided on.
 */
export function orphansIn(keys: readonly string[], root: AllocationRoot): string[] {
  const used = new Set(pageKeysOf(root));
  return keys.filter((key) => {
    const [born, seq] = key.split('/');
    return !used.has(key) && (born !== root.born || Number(seq) <= root.seq);
  });
}
