import type { SemaphoreDefinition } from './definition.js';
import type { Expiring, StoredPermit } from './permit.js';

export const RECORD_VERSION = 1;

export const CHANGES = ['define', 'edit', 'pause', 'resume', 'migrate', 'reset', 'remove'] as const;

/** The last change of a definition by a person or a program. */
export interface DefinitionChange {
  /** A text that nobody else makes: tells whoever lost the answer that this change was theirs. */
  readonly id: string;
  /** The kind of change. */
  readonly kind: (typeof CHANGES)[number];
  /** Name of the person or program that made the change. */
  readonly by: string;
  /** Cluster time in ms. */
  readonly at: number;
  /** The reason that was given. */
  readonly reason?: string;
}

/** While it lasts the definition's group pattern matches nothing. */
export interface Pause {
  /** Name of the person or program that paused it. */
  readonly by: string;
  /** Cluster time in ms since when. */
  readonly at: number;
  /** The reason that was given. */
  readonly reason?: string;
  /** What comes back into force when it ends. */
  readonly groupPattern: string;
}

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
  /** Who changed the definition last; absent: nobody did since code brought it along. */
  readonly change?: DefinitionChange;
  /** Present while an operator has paused it. */
  readonly pause?: Pause;
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
  isExpired(lease: Expiring): boolean;
}

export type RecordChanges = Partial<
  Pick<SemaphoreRecord, 'definition' | 'revision' | 'permits' | 'lastToken' | 'grace' | 'change' | 'pause'>
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
    permits: permits.filter((permit) => !view.isExpired(permit)),
    change: 'change' in changes ? changes.change : record.change,
    pause: 'pause' in changes ? changes.pause : record.pause,
  };
  return grace && !view.isExpired(grace) ? { ...next, grace } : next;
}

/** What a semaphore is before its first record. */
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

/** What the keys of semaphores' records begin with. */
export const KEY_PREFIX = 'semaphore:';
