import type { SemaphoreDefinition } from './definition.js';
import type { Expiring, StoredPermit } from './permit.js';

export const RECORD_VERSION = 1;

/**
 * All that the store keeps of one semaphore, in one text. Definition and permits stand together so that an edit and a
 * grant are serialised by the same compare-and-set: an edit is in force for the very next decision of every node.
 */
export interface SemaphoreRecord {
  readonly v: typeof RECORD_VERSION;
  /** New with every write: tells a writer that lost the answer whether its text got there. */
  readonly nonce: string;
  /** Grows by one with every write: a lower one than a node has seen means that writes were lost. */
  readonly seq: number;
  /** The writer's cluster time in ms: a free check of the clocks by everyone who reads it. */
  readonly at: number;
  /** Grows with every edit of the definition. */
  readonly revision: number;
  /** Highest token ever granted. */
  readonly lastToken: number;
  /** Absent: the semaphore was removed. The record stays, so that its token and revision are not forgotten. */
  readonly definition?: SemaphoreDefinition;
  readonly permits: readonly StoredPermit[];
  /** Present after lost data: until it ends only a holder that still holds by its own clocks may re-assert its permit. */
  readonly grace?: Expiring;
}

/**
 * What a decision may know besides the record: a pure function of clock readings and of what the node has observed.
 */
export interface View {
  /** Cluster time in ms. */
  readonly now: number;
  /** Whether it is over for everybody but its own holder, who goes by its own clocks. */
  isDead(lease: Expiring): boolean;
}

export type RecordChanges = Partial<
  Pick<SemaphoreRecord, 'definition' | 'revision' | 'permits' | 'lastToken' | 'grace'>
>;

/** The record's next text: every write also drops what has expired. */
export function rewrite(record: SemaphoreRecord, changes: RecordChanges, view: View, nonce: string): SemaphoreRecord {
  const { grace = record.grace, permits = record.permits } = changes;
  const next: SemaphoreRecord = {
    v: RECORD_VERSION,
    nonce,
    seq: record.seq + 1,
    at: view.now,
    revision: changes.revision ?? record.revision,
    lastToken: changes.lastToken ?? record.lastToken,
    // Present but undefined: taken away.
    definition: 'definition' in changes ? changes.definition : record.definition,
    permits: permits.filter((permit) => !view.isDead(permit)),
  };
  return grace && !view.isDead(grace) ? { ...next, grace } : next;
}

/** The first record of a semaphore. */
export function createRecord(definition: SemaphoreDefinition, now: number, nonce: string): SemaphoreRecord {
  return { v: RECORD_VERSION, nonce, seq: 1, at: now, revision: 1, lastToken: 0, definition, permits: [] };
}

/**
 * Whether this record lacks writes that `known` had: the store lost data, someone put an old text back, or, where both
 * count as many writes but the last of them differs, the one was written by somebody who knew nothing of the other.
 */
export function isBehind(record: SemaphoreRecord, known: SemaphoreRecord): boolean {
  return (
    record.seq < known.seq ||
    record.lastToken < known.lastToken ||
    record.revision < known.revision ||
    (record.seq === known.seq && record.nonce !== known.nonce)
  );
}
