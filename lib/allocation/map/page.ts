import { eachInPieces, type Pieces } from '../../core/async/slices.js';
import { type AllocationRoot, type Withdrawal, pageKeysOf } from './root.js';

/** Resources of one member. A page that a root has never changes: a change of the map writes new pages in free slots. */
export interface OwnedPage {
  readonly v: typeof PAGE_VERSION;
  readonly owned: readonly OwnedItem[];
}

/** Resources that their member got with one token. */
type OwnedItem = readonly [token: number, ids: readonly string[]];

/** Resources that were taken away and may not be granted yet. */
export interface LimboPage {
  readonly v: typeof PAGE_VERSION;
  readonly limbo: readonly LimboItem[];
}

/** Resources that one root took away from one member. */
type LimboItem = readonly [from: string, seq: number, ids: readonly string[]];

export const PAGE_VERSION = 1;
/** Largest number of resources in one page: it is read and written as a whole. */
export const MOST_IN_PAGE = 1000;
/** Largest number of characters of the ids in one page. */
const MOST_CHARACTERS = 256 * 1024;

/** All resources of some pages, one by one: a page may have a token for each of them. */
export function* resourcesIn(pages: Iterable<OwnedPage>): Generator<readonly [id: string, token: number]> {
  for (const { owned } of pages) for (const [token, ids] of owned) for (const id of ids) yield [id, token];
}

/** Divides the resources of one member into pages. */
export function* ownedPages(items: Iterable<readonly [id: string, token: number]>): Pieces<OwnedPage[]> {
  const pages: OwnedPage[] = [];
  for (const chunk of yield* chunksOf(items, ([id]) => id)) {
    const owned = grouped(
      chunk,
      (token) => String(token),
      (token, ids): OwnedItem => [token, ids],
    );
    pages.push({ v: PAGE_VERSION, owned });
    yield chunk.length;
  }
  return pages;
}

/** Divides the resources in limbo into pages. */
export function* limboPages(items: Iterable<readonly [id: string, withdrawal: Withdrawal]>): Pieces<LimboPage[]> {
  const pages: LimboPage[] = [];
  for (const chunk of yield* chunksOf(items, ([id]) => id)) {
    const limbo = grouped(
      chunk,
      ({ from, seq }) => `${seq}/${from}`,
      ({ from, seq }, ids): LimboItem => [from, seq, ids],
    );
    pages.push({ v: PAGE_VERSION, limbo });
    yield chunk.length;
  }
  return pages;
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
 * Id of a page: its slot in the store, and the nonce of the attempt that wrote it. A text with another id in the slot is
 * another page.
 */
export function pageKey(slot: number, nonce: string): string {
  return `${slot}/${nonce}`;
}

/** The slot of a page: the number that its key in the store ends with. */
export function slotOf(key: string): number {
  return Number.parseInt(key, 10);
}

/**
 * Slots that a root does not use, the lowest first. New pages overwrite them, so the store holds no more pages than the
 * largest map needed. A slot may be overwritten only while the root is the one that this was called with.
 */
export function* freeSlots(root: AllocationRoot): Generator<number, never> {
  const used = new Set(pageKeysOf(root).map(slotOf));
  for (let slot = 0; ; slot++) if (!used.has(slot)) yield slot;
}
