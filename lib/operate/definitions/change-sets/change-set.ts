import { z } from 'zod';
import {
  CHANGES,
  type DefinitionChange,
  type FormerState,
  type SemaphoreRecord,
  type View,
  decodeStored,
  intendedDefinition,
  lacksWrites,
  pauseSchema,
  sameDefinition,
  storedCount,
  storedDefinitionSchema,
  storedList,
  storedText,
  storedTime,
} from '../../../core/decision/index.js';
import type { Pieces } from '../../../core/async/slices.js';
import type { RecordCodec, StoredRecord } from '../../../core/cell/record-codec.js';
import { type WindowPart, windowSchema } from './window-part.js';

/*
 * The storage format of change sets: one root with a head for each set, and pages with their entries.
 *
 *     change-sets:root    { "v": 1, "nonce": "3w5e.1f", "seq": 3, "at": 1790000000000, "sets": [
 *                           { "id": "3w5e.1a", "kind": "bulk", "by": "ann", "reason": "the database moves",
 *                             "at": 1790000000000, "pages": [[0, 0, 2, "3w5e.1b", "listed"]] } ] }
 *     change-sets:page/0  { "v": 1, "listing": "3w5e.1b", "first": 0, "entries": [
 *                           { "name": "report", "change": "3w5e.1c", "action": "pause", "revision": 4,
 *                             "definition": { … } }, … ] }
 *
 * A record can't be removed, so pages live in numbered slots. A slot of a set that was dropped is used again.
 */

/** Kinds of changes of many definitions. */
const KINDS = ['bulk', 'migration', 'undo', 'window'] as const;

/**
 * Phases of a listing. `listing`: its pages are being written, and none of its changes was made; it stays so if the process dies.
 * `listed`: its pages are in the store, and its changes may be made.
 */
const PHASES = ['listing', 'listed'] as const;

/** A change of many, as its first call began it. */
export interface NewSet {
  /** Unique. Entries of the audit log share it as `bulk`. */
  readonly id: string;
  readonly kind: (typeof KINDS)[number];
  readonly by: string;
  readonly reason?: string | undefined;
}

/** A set in the root, without its entries. */
export interface SetHead extends NewSet {
  /** Cluster time in ms of the first listing. */
  readonly at: number;
  readonly pages: readonly PageRef[];
  /** Of a maintenance window that has not ended. Such a set is kept in any case. */
  readonly window?: WindowPart | undefined;
}

/** A page of a set: its slot, the index of its first entry in the set, the number of its entries, and its listing. */
export type PageRef = readonly [
  slot: number,
  first: number,
  count: number,
  listing: string,
  phase: (typeof PHASES)[number],
];

/** A change that is about to be made. The definition's state is the one before it. */
export interface SetEntry {
  /** Name of the semaphore. */
  readonly name: string;
  /** Id that the change gets: it is the last change of the definition as long as the record has it. */
  readonly change: string;
  readonly action: DefinitionChange['kind'];
  /** Revision after the change. */
  readonly revision: number;
  /** The state before the change; absent if it could not be read. */
  readonly before?: FormerState | undefined;
}

/**
 * All sets of the cluster, in the order of their begin: one text under one key, so that one compare-and-set decides who gets
 * which slots, and which window lets go of a semaphore that two of them want.
 */
export interface ChangeSetsRecord extends StoredRecord {
  readonly v: typeof VERSION;
  readonly sets: readonly SetHead[];
}

const VERSION = 1;
/** Sets that are kept. */
const MOST_SETS = 400;
/** Sets that a root may have: also open windows, and those that have ended since the last listing. */
const MOST_READ = 1000;
/** About the longest text of all heads without open windows, in bytes. `remote()` sends two roots in 2 MiB. */
const LONGEST_HEADS = 80_000;
/** Pages of all sets: at most 40 MB, or about 100,000 changes. */
const MOST_PAGES = 400;
/** Longest text of the entries of one page, in bytes: 300 changes, or a few with the longest patterns. */
export const LONGEST_PAGE = 100_000;

const headSchema = z.strictObject({
  id: storedText.min(1),
  kind: z.enum(KINDS),
  by: storedText,
  reason: storedText.optional(),
  at: storedTime,
  pages: storedList(z.tuple([storedCount, storedCount, storedCount, storedText.min(1), z.enum(PHASES)]), MOST_PAGES),
  window: windowSchema.optional(),
});

const rootSchema = z.strictObject({
  v: z.literal(VERSION),
  nonce: z.string().min(1),
  seq: storedCount,
  at: storedTime,
  sets: storedList(headSchema, MOST_READ),
});

const entrySchema = z.strictObject({
  name: storedText.min(1),
  change: storedText.min(1),
  action: z.enum(CHANGES),
  revision: storedCount,
  definition: storedDefinitionSchema.optional(),
  pause: pauseSchema.optional(),
  isUnread: z.literal(true).optional(),
});

const pageSchema = z.strictObject({
  v: z.literal(VERSION),
  listing: storedText.min(1),
  first: storedCount,
  entries: storedList(entrySchema),
});

/** The storage format of the root, and the rules for lost data: the copy with the most writes counts. */
export const CHANGE_SETS: RecordCodec<ChangeSetsRecord> = {
  kind: 'the record of maintenance and changes of many',
  keyPrefix: 'change-sets:',
  decode: (_, text) => decodeStored(rootSchema, VERSION, 'the record of maintenance and changes of many', text),
  encode: (record) => JSON.stringify(record),
  isBehind: lacksWrites,
  restore: (known, found, view, nonce) =>
    nextRoot({ ...known, seq: Math.max(known.seq, found?.seq ?? 0) }, known.sets, view, nonce),
  rewrite: (record, view, nonce) => nextRoot(record, record.sets, view, nonce),
  leases: () => [],
};

/** The root after a change. */
export function nextRoot(
  record: Pick<ChangeSetsRecord, 'seq'> | undefined,
  sets: readonly SetHead[],
  view: View,
  nonce: string,
): ChangeSetsRecord {
  return { v: VERSION, nonce, seq: (record?.seq ?? 0) + 1, at: view.now, sets };
}

export function pageKey([slot]: PageRef): string {
  return `${CHANGE_SETS.keyPrefix}page/${slot}`;
}

/** Divides entries into pages. */
export function* pagesOf(entries: readonly SetEntry[]): Pieces<SetEntry[][]> {
  const pages: SetEntry[][] = [];
  let size = Infinity;
  for (const entry of entries) {
    const bytes = Buffer.byteLength(JSON.stringify(entry));
    size += bytes;
    if (size > LONGEST_PAGE) {
      pages.push([]);
      size = bytes;
    }
    pages.at(-1)!.push(entry);
    yield 1;
  }
  return pages;
}

export function encodePage([, first, , listing]: PageRef, entries: readonly SetEntry[]): string {
  const stored = entries.map(({ before, ...entry }) =>
    before ? { ...entry, ...before } : { ...entry, isUnread: true },
  );
  return JSON.stringify({ v: VERSION, listing, first, entries: stored });
}

/** @returns undefined if the slot has another page: this one was not written, or is lost */
export function decodePage([, first, , listing]: PageRef, text: string): SetEntry[] | undefined {
  const page = decodeStored(pageSchema, VERSION, 'a page of a change of many', text);
  if (page.listing !== listing || page.first !== first) return undefined;
  return page.entries.map(({ definition, pause, isUnread, ...entry }) =>
    isUnread ? entry : { ...entry, before: { definition, pause } },
  );
}

/**
 * Gives a set new pages. Drops the oldest sets if there are too many, and of a set that is too large alone its oldest pages.
 *
 * @param counts number of entries of each new page
 * @param listing id of the call that lists them
 * @param now cluster time in ms
 */
export function withPages(
  sets: readonly SetHead[],
  { id, kind, by, reason }: NewSet,
  counts: readonly number[],
  { listing, now }: { readonly listing: string; readonly now: number },
): { readonly sets: readonly SetHead[]; readonly pages: readonly PageRef[] } {
  const former = sets.find((each) => each.id === id);
  const own = former?.pages.slice(counts.length - MOST_PAGES) ?? [];
  const kept = newest(sets, former, MOST_PAGES - counts.length - own.length);
  const taken = new Set(kept.flatMap((each) => (each === former ? own : each.pages)).map(([slot]) => slot));
  const pages: PageRef[] = [];
  let slot = 0;
  let first = endOf(former);
  for (const count of counts) {
    while (taken.has(slot)) slot++;
    pages.push([slot++, first, count, listing, 'listing']);
    first += count;
  }
  const start = former ?? { id, kind, by, ...(reason !== undefined && { reason }), at: now };
  const next: SetHead = { ...start, pages: [...own, ...pages] };
  return { sets: former ? kept.map((each) => (each === former ? next : each)) : [...kept, next], pages };
}

/** The sets after all pages of a listing were written. */
export function withListed(sets: readonly SetHead[], listing: string): SetHead[] {
  const listed = (page: PageRef): PageRef =>
    page[3] === listing ? [page[0], page[1], page[2], listing, 'listed'] : page;
  return sets.map((head) => ({ ...head, pages: head.pages.map(listed) }));
}

/** Whether sets have all of these pages, each in exactly its slot. */
export function havePages(sets: readonly SetHead[], wanted: readonly PageRef[]): boolean {
  const placeOf = ([slot, first, , listing]: PageRef) => `${slot} ${first} ${listing}`;
  const places = new Set(sets.flatMap(({ pages }) => pages.map(placeOf)));
  return wanted.every((page) => places.has(placeOf(page)));
}

/** Largest number of pages that one call can list. */
export const MOST_NEW_PAGES = MOST_PAGES - 1;

/** Number of the first entries of a set that it no longer has. */
export function droppedFrom({ pages }: SetHead): number {
  return pages[0]?.[1] ?? 0;
}

/** Whether a definition is in the state that an entry has as the one before its change. */
export function isAsListed({ before }: SetEntry, record: SemaphoreRecord | undefined): boolean {
  if (!before) return true;
  const present = record && intendedDefinition(record);
  const isSame =
    present && before.definition ? sameDefinition(present, before.definition) : present === before.definition;
  return isSame && record?.pause?.at === before.pause?.at && record?.pause?.by === before.pause?.by;
}

/**
 * The latest sets that fit beside one that is listed now, with that one and all open windows.
 *
 * @param mostPages of all others
 */
function newest(sets: readonly SetHead[], own: SetHead | undefined, mostPages: number): readonly SetHead[] {
  let count = 1;
  let pages = 0;
  let bytes = 0;
  const kept = sets.toReversed().filter((head) => {
    if (head === own) return true;
    count++;
    pages += head.pages.length;
    bytes += sizeOf(head);
    return head.window !== undefined || (count <= MOST_SETS && pages <= mostPages && bytes <= LONGEST_HEADS);
  });
  return kept.toReversed();
}

/** About the bytes of a head, without its window. */
function sizeOf({ id, by, reason = '', pages }: SetHead): number {
  return 80 + id.length + Buffer.byteLength(by) + Buffer.byteLength(reason) + 45 * pages.length;
}

/** Index of the next entry. */
function endOf(head: SetHead | undefined): number {
  const last = head?.pages.at(-1);
  return last ? last[1] + last[2] : 0;
}
