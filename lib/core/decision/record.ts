import type { SemaphoreDefinition, DefinitionChange, Pause, StoredPermit } from './answers.js';
import type { DefinitionSource } from './change-kinds.js';
import type { Expiring, Preference } from './permit.js';

export const RECORD_VERSION = 1;

/**
 * All data of one semaphore: one text under one key in the store. Definition and permits are in the same record, so the
 * same compare-and-set serialises edits and grants. After an edit, the next decision of every node already follows it.
 * The record of "nightly-report" while "app-7" holds its only permit (ids shortened):
 *
 *     {
 *       "v": 1,                            the format
 *       "nonce": "3w5e11264sg2a.1f",       new with every write
 *       "seq": 42,                         the 42nd write
 *       "at": 1790000000000,               cluster time of the write
 *       "revision": 3,                     the definition was edited twice
 *       "lastToken": 1832960000000000,     the highest that was granted
 *       "source": "operator",              who the definition comes from
 *       "fingerprint": "kP3_x0a9Zq",       of code's definition, from before the edits
 *       "definition": { "name": "nightly-report", "groupPattern": "eu-.*", "acquirerPattern": ".*",
 *                       "permits": 1, "duration": 300000 },
 *       "permits": [{ "id": "3w5e11264sg2a.1e", "slot": 0, "token": 1832960000000000,
 *                     "instance": "9f1c...", "holder": "9f1c...", "acquirer": "app-7", "group": "eu-west",
 *                     "grantedAt": 1790000000000, "expiresAt": 1790000300000, "duration": 300000 }],
 *       "change": { "id": "1x0g8.7", "kind": "edit", "by": "ann", "at": 1789999000000, "reason": "moved to eu" }
 *     }
 *
 * The record of a paused semaphore has `pause`. A record that was restored after lost data has `grace`. While the next
 * grant is kept for a certain process, or for all but one, the record has `preference`.
 */
export interface SemaphoreRecord {
  readonly v: typeof RECORD_VERSION;
  /**
   * New with every write. A writer that lost the answer looks for its nonce to find out whether its text was written.
   */
  readonly nonce: string;
  /** Grows by one with every write. If it is lower than a node has seen before, writes were lost. */
  readonly seq: number;
  /** The writer's cluster time in ms. Every reader uses it to check the clocks, without an extra request. */
  readonly at: number;
  /** Grows with every edit of the definition. */
  readonly revision: number;
  /** Highest token ever granted. */
  readonly lastToken: number;
  /** Absent if the semaphore was removed. The record stays, because it keeps the highest token and the revision. */
  readonly definition?: SemaphoreDefinition;
  /** Origin of the definition. Absent counts as `operator`, so that code never replaces it. A pause does not change it. */
  readonly source?: DefinitionSource;
  /** Fingerprint of the definition that was last taken from code, also while an operator's counts. A pause does not change it. */
  readonly fingerprint?: string;
  readonly permits: readonly StoredPermit[];
  /** The last change of the definition. Absent if the definition is as code declared it. */
  readonly change?: DefinitionChange;
  /** Present while the semaphore is paused. */
  readonly pause?: Pause;
  /** Present after lost data. Until it ends, only a holder whose own lease still runs may put its permit back. */
  readonly grace?: Expiring;
  /** Present while the next grant is kept for one process, or for all but one. Ends with that grant, or when it expires. */
  readonly preference?: Preference;
  /** Id of the record of a semaphore that code defines; the claim in the shard contains it. A new one after a loss. */
  readonly origin?: string;
  /** Present if only calls that hold its permits define it. It is never written: the name is in a shard, and ends with them. */
  readonly isOnDemand?: true;
}

/** Input of a decision besides the record: clock readings, and the node's observations of leases. */
export interface View {
  /** Cluster time in ms. */
  readonly now: number;
  /** Whether a lease is over for all nodes except its holder. The holder uses its own clocks. */
  isExpired(lease: Expiring): boolean;
}

/** The grace of a record of any kind, while it lasts. */
export function graceIn(record: { readonly grace?: Expiring } | undefined, view: View): Expiring | undefined {
  const grace = record?.grace;
  return grace && !view.isExpired(grace) ? grace : undefined;
}

/** The permits of a record that have not expired. */
export function holdersIn(record: SemaphoreRecord | undefined, view: View): StoredPermit[] {
  return record?.permits.filter((permit) => !view.isExpired(permit)) ?? [];
}

type RecordChanges = Partial<
  Pick<
    SemaphoreRecord,
    | 'definition'
    | 'source'
    | 'fingerprint'
    | 'revision'
    | 'permits'
    | 'lastToken'
    | 'grace'
    | 'change'
    | 'pause'
    | 'preference'
  >
>;

/** The next record: every write also drops permits, a grace and a preference that have expired. */
export function rewrite(record: SemaphoreRecord, changes: RecordChanges, view: View, nonce: string): SemaphoreRecord {
  const { grace = record.grace, permits = record.permits } = changes;
  const preference = 'preference' in changes ? changes.preference : record.preference;
  const next: SemaphoreRecord = {
    v: RECORD_VERSION,
    nonce,
    seq: record.seq + 1,
    at: view.now,
    revision: changes.revision ?? record.revision,
    lastToken: changes.lastToken ?? record.lastToken,
    // A key that is present but undefined removes that field.
    definition: 'definition' in changes ? changes.definition : record.definition,
    source: changes.source ?? record.source,
    fingerprint: changes.fingerprint ?? record.fingerprint,
    permits: permits.filter((permit) => !view.isExpired(permit)),
    change: 'change' in changes ? changes.change : record.change,
    pause: 'pause' in changes ? changes.pause : record.pause,
    origin: record.origin,
  };
  if (!grace && !preference) return next;
  return {
    ...next,
    ...(grace && !view.isExpired(grace) && { grace }),
    ...(preference && !view.isExpired(preference) && { preference }),
  };
}

/** A semaphore before its first record. */
export const EMPTY_RECORD: SemaphoreRecord = {
  v: RECORD_VERSION,
  nonce: '',
  seq: 0,
  at: 0,
  revision: 0,
  lastToken: 0,
  permits: [],
};

/** The first record of a semaphore. */
export function createRecord(definition: SemaphoreDefinition, now: number, nonce: string): SemaphoreRecord {
  return { v: RECORD_VERSION, nonce, seq: 1, at: now, revision: 1, lastToken: 0, definition, permits: [] };
}

/**
 * The record of a name that code defines, before its shard contains the claim. It has no definition yet, so it grants
 * nothing.
 *
 * Each attempt to write it has its own origin. If the answer to an attempt is lost, another one succeeds, and the store
 * then loses everything, the first one may still arrive. Its origin shows that it is not the record that was claimed.
 */
export function pendingRecord(now: number, nonce: string): SemaphoreRecord {
  return { ...EMPTY_RECORD, nonce, seq: 1, at: now, origin: nonce };
}

/** Whether a record has a definition now, or had one that was removed. */
export function isActive({ revision }: SemaphoreRecord): boolean {
  return revision > 0;
}

type Counters = Pick<SemaphoreRecord, 'seq' | 'nonce' | 'lastToken' | 'revision'>;

/** {@link lacksWrites}, by all counters of a record. */
export function isBehind(record: Counters, known: Counters): boolean {
  return lacksWrites(record, known) || record.lastToken < known.lastToken || record.revision < known.revision;
}

/**
 * Whether this record lacks writes that `known` had: the store lost data, or an old text was put back. If `seq` is
 * equal but the nonces differ, the two records come from two nodes that did not know each other's write.
 */
export function lacksWrites(record: Pick<Counters, 'seq' | 'nonce'>, known: Pick<Counters, 'seq' | 'nonce'>): boolean {
  return record.seq < known.seq || (record.seq === known.seq && record.nonce !== known.nonce);
}

/** Prefix of the keys of semaphores' records. */
export const KEY_PREFIX = 'semaphore:';
