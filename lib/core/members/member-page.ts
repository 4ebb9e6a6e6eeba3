import { z } from 'zod';
import type { NodeMetadata, Participant } from '../context/participant.js';
import {
  CorruptRecordError,
  type Expiring,
  type View,
  decodeStored,
  graceSchema,
  lacksWrites,
  storedCount,
  storedList,
  storedText,
  storedTime,
} from '../decision/index.js';
import type { RecordCodec, StoredRecord } from '../cell/record-codec.js';
import { isObject } from './metadata.js';

/**
 * The membership of some nodes: one text under one key. A node's entry has a lease, as a permit has: the node counts
 * it from before it sends the write, and the others judge its end by their own observations.
 *
 *     {
 *       "v": 1, "nonce": "3w5e11264sg2a.1f", "seq": 42, "at": 1790000000000, "born": "3w5e11264sg2a.3",
 *       "entries": [{ "instance": "9f1c...", "inc": "3w5e11264sg2a.0", "beat": 17,
 *                     "expiresAt": 1790000010000, "duration": 10000,
 *                     "group": "eu-west", "acquirer": "app-7", "host": "app-7", "metadata": {}, "startedAt": 1789999950000 }]
 *     }
 *
 * Fields that this version does not know are kept: a later version may publish more about a node.
 */
export interface MemberPage extends StoredRecord {
  readonly v: typeof PAGE_VERSION;
  /** Id of this lineage: a page that was lost and restored has a new one. */
  readonly born: string;
  /** At most one entry per instance. */
  readonly entries: readonly MemberEntry[];
  /** Present after lost data. Until it ends, a holder whose own lease still runs may put its entry back. */
  readonly grace?: Expiring;
}

/** A node with its membership lease. */
export interface MemberEntry extends Omit<Participant, 'id'> {
  /** Id of one unbroken lease. A node whose lease lapsed takes a new one. */
  readonly inc: string;
  /** Grows with each write of this node. It tells two leases apart, whatever the clocks say. */
  readonly beat: number;
  readonly expiresAt: number;
  readonly duration: number;
  readonly metadata: NodeMetadata;
  /** The scopes of leadership in which the node takes part. Absent in entries of an earlier version. */
  readonly scopes?: readonly string[];
  /** The node left. The entry stays for a while, so that every node sees that. */
  readonly ended?: true;
  /** Earlier leases of this process, the newest ones. It believes in none of them any more. */
  readonly former?: readonly string[];
  /** The allocation groups in which the node takes part. */
  readonly groups?: readonly GroupEntry[];
}

/** A node's part in an allocation group. */
export interface GroupEntry {
  readonly group: string;
  /** The node's share, compared with the others. 0: it must own nothing. */
  readonly weight: number;
  /** The newest owner map that the node has applied, with all that it took away. */
  readonly acked?: { readonly born: string; readonly seq: number };
  /** The highest fencing token that the node has seen. */
  readonly top: number;
  /** Id of a page of the owner map that the node does not find. */
  readonly missing?: string;
  /** Digest of the resources that the node has read. */
  readonly digest?: string;
  /** The node could not decide on the group in this lease, and handed the decision on. */
  readonly yields?: true;
  /** The problem that this node has with the group, as a sentence. */
  readonly problem?: string;
  /** The node decides, and what it read counts only if others read the same: they look now. */
  readonly doubts?: ShrunkSet;
}

/** Size of a set of resources that lacks most of the known ones. */
export interface ShrunkSet {
  /** Number of the known resources. */
  readonly known: number;
  /** Number of the known resources that the set still has. */
  readonly left: number;
}

const PAGE_VERSION = 1;
/** Prefix of the keys of pages. */
export const PAGE_PREFIX = 'members:';
/**
 * Number of pages. A constant of the format: every node reads all pages. One page would make nodes wait for each other
 * when many join at once, and many pages cost more per look.
 */
export const PAGES = 8;
/** Characters: enough for hundreds of nodes in one page. A longer text would block the event loop. */
const LONGEST_PAGE = 512 * 1024;

const groupSchema = z.looseObject({
  group: storedText.min(1),
  weight: storedCount,
  acked: z.object({ born: storedText.min(1), seq: storedCount }).optional(),
  top: storedCount,
  missing: storedText.optional(),
  digest: storedText.optional(),
  yields: z.literal(true).optional(),
  problem: storedText.optional(),
  doubts: z.looseObject({ known: storedCount, left: storedCount }).optional(),
});

const entrySchema = z.looseObject({
  instance: storedText.min(1),
  inc: storedText.min(1),
  beat: storedCount,
  expiresAt: storedTime,
  duration: storedTime.positive(),
  group: storedText,
  acquirer: storedText,
  host: storedText,
  version: storedText.optional(),
  metadata: z.custom<NodeMetadata>(isObject, 'is not an object'),
  startedAt: storedTime,
  scopes: storedList(storedText).optional(),
  ended: z.literal(true).optional(),
  former: storedList(storedText).optional(),
  groups: storedList(groupSchema).optional(),
});

const pageSchema = z.looseObject({
  v: z.literal(PAGE_VERSION),
  nonce: z.string().min(1),
  seq: storedCount,
  at: storedTime,
  born: storedText.min(1),
  entries: storedList(entrySchema).refine(
    (entries) => new Set(entries.map(({ instance }) => instance)).size === entries.length,
    'has an instance twice',
  ),
  grace: graceSchema.optional(),
});

const EMPTY_PAGE: MemberPage = { v: PAGE_VERSION, nonce: '', seq: 0, at: 0, born: '', entries: [] };

/** The storage format of the pages, and the rules for lost data. */
export const MEMBERS: RecordCodec<MemberPage> = {
  kind: 'membership page',
  keyPrefix: PAGE_PREFIX,
  decode: decodePage,
  encode: encodePage,
  isBehind: lacksWrites,
  restore: restorePage,
  rewrite: (page, view, nonce) => nextPage(page, {}, view, nonce),
  leases: ({ entries, grace }) => [...entries.map(leaseOf), ...(grace ? [grace] : [])],
};

/** @throws CorruptRecordError or NewerRecordError */
export function decodePage(name: string, text: string): MemberPage {
  const subject = `membership page ${name}`;
  if (text.length > LONGEST_PAGE) {
    throw new CorruptRecordError(`${subject} can't be read: it is longer than ${LONGEST_PAGE} characters`);
  }
  return decodeStored(pageSchema, PAGE_VERSION, subject, text);
}

/** A page that no node could read must not be written: its node takes another one. @throws CorruptRecordError */
function encodePage(page: MemberPage): string {
  const text = JSON.stringify(page);
  if (text.length <= LONGEST_PAGE) return text;
  throw new CorruptRecordError(`a membership page would be longer than ${LONGEST_PAGE} characters: it has no room`);
}

/** The lease of an entry. Its id is new with each renewal. */
export function leaseOf({ inc, beat, expiresAt, duration }: MemberEntry): Expiring {
  return { id: `${inc} ${beat}`, expiresAt, duration };
}

export function entryIn(page: MemberPage | undefined, instance: string): MemberEntry | undefined {
  return page?.entries.find((entry) => entry.instance === instance);
}

/** The page with a new entry in the place of the node's former one. */
export function withEntry(page: MemberPage = EMPTY_PAGE, entry: MemberEntry, view: View, nonce: string): MemberPage {
  const others = page.entries.filter(({ instance }) => instance !== entry.instance);
  return nextPage(page, { entries: [...others, entry] }, view, nonce);
}

/**
 * Whether a node may renew an incarnation. If its entry is missing, other nodes have judged that its lease is over,
 * unless data were lost.
 */
export function mayRenew(page: MemberPage | undefined, { instance, inc }: Pick<MemberEntry, 'instance' | 'inc'>) {
  return entryIn(page, instance)?.inc === inc || page?.grace !== undefined;
}

/**
 * The next page: every write drops entries that have been over for so long that every node has seen that. Only a node
 * that could not judge them so soon, for example after an outage, sees them vanish.
 */
function nextPage(
  page: MemberPage,
  changes: Partial<Pick<MemberPage, 'entries' | 'grace'>>,
  view: View,
  nonce: string,
): MemberPage {
  const { grace, entries, ...rest } = { ...page, ...changes };
  const kept = entries.filter((entry) => !isForgotten(entry, view));
  const next = { ...rest, nonce, seq: page.seq + 1, at: view.now, born: page.born || nonce, entries: kept };
  return grace && !view.isExpired(grace) ? { ...next, grace } : next;
}

function isForgotten(entry: MemberEntry, view: View): boolean {
  return view.isExpired(leaseOf(entry)) && view.now > entry.expiresAt + entry.duration;
}

/** This node's copy of a lost page, and the entries that the store has: the later beat of each node. */
function restorePage(known: MemberPage, found: MemberPage | undefined, view: View, nonce: string): MemberPage {
  const entries = new Map<string, MemberEntry>();
  for (const entry of [...known.entries, ...(found?.entries ?? [])]) {
    const other = entries.get(entry.instance);
    if (!other || other.beat < entry.beat) entries.set(entry.instance, entry);
  }
  const graces = [known, found].flatMap((page) => page?.grace ?? []);
  const duration = Math.max(0, ...[...entries.values(), ...graces].map((lease) => lease.duration));
  const expiresAt = Math.max(view.now + duration, ...graces.map((grace) => grace.expiresAt));
  const grace = { id: `grace-${nonce}`, expiresAt, duration };
  const seq = Math.max(known.seq, found?.seq ?? 0);
  return nextPage({ ...known, seq, born: nonce }, { entries: [...entries.values()], grace }, view, nonce);
}
