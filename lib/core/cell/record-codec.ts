import type { Expiring, LeaseChanges, View } from '../decision/index.js';

/** Fields that the compare-and-set loop needs in every kind of record. */
export interface StoredRecord {
  /** New with every write. A writer without an answer looks for its nonce to find out whether its text was written. */
  readonly nonce: string;
  /** Grows by one with every write. If it is lower than a node has seen before, writes were lost. */
  readonly seq: number;
  /** Highest token, if the record has tokens. */
  readonly lastToken?: number;
  /** Grows with every edit, if the record has edits. */
  readonly revision?: number;
  /** The writer's cluster time in ms. Every reader uses it to check the clocks, without an extra request. */
  readonly at: number;
}

/**
 * One kind of record: its storage format, and the pure rules that the loop needs. So {@link Cell} can handle
 * unknown outcomes, lost data and clocks in the same way for every kind.
 */
export interface RecordCodec<R extends StoredRecord> {
  /** The word for such a record in error texts: "semaphore". */
  readonly kind: string;
  /** A record's key is this prefix and the record's name. */
  readonly keyPrefix: string;
  /** @throws CorruptRecordError or NewerRecordError if the text can't be read */
  decode(name: string, text: string): R;
  encode(record: R): string;
  /** Whether a record lacks writes that `furthest` had. */
  isBehind(record: R, furthest: R): boolean;
  /**
   * The record to write after the store lost data: this node's copy, with a grace for holders that this node never saw.
   * It must not be behind `found`. Otherwise two nodes would overwrite each other's copy again and again.
   *
   * @param found the record that the store has, if any
   */
  restore(furthest: R, found: R | undefined, view: View, nonce: string): R;
  /** The record with a new nonce and unchanged content. Writing it confirms a write whose answer was lost. */
  rewrite(record: R, view: View, nonce: string): R;
  /** All permits and the grace of the record. This node counts their durations from when it first saw them. */
  leases(record: R): readonly Expiring[];
  /** The differences between the leases of two versions, where that is quicker than to list both. */
  leaseChanges?(former: R, record: R): LeaseChanges;
}

/** A new version of a record that a cell took over. */
export interface RecordChanged<R extends StoredRecord> {
  readonly record: R;
  /** The latest version that this node had seen before; undefined for the first one. */
  readonly former: R | undefined;
  /** Whether this node wrote it. The store does not report a node's own writes to that node. */
  readonly own: boolean;
}

/** Hears of changes of a cell's record. The cell calls it during its work, so a method must not throw or block. */
export interface RecordListener<R extends StoredRecord> {
  /** A new text was read, reported or written. */
  changed?(change: RecordChanged<R>): void;
  /** A hint or a listing contains the record as this node knows it. */
  confirmed?(): void;
  /** The store had lost data, and this node restored the record. */
  restored?(record: R): void;
  /** The record can't be read. Called once per text, not for each call that is denied. */
  unreadable?(error: Error): void;
}
