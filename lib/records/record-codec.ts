import type { Expiring, View } from '../decision/index.js';

/** Fields that the compare-and-set loop needs in every kind of record. */
export interface StoredRecord {
  /** New with every write: shows a writer without an answer whether its text was written. */
  readonly nonce: string;
  /** Grows by one with every write: a lower one than a node has seen means that writes were lost. */
  readonly seq: number;
  /** The writer's cluster time in ms: a free check of the clocks by everyone who reads it. */
  readonly at: number;
}

/**
 * One kind of record: how it is stored, and the pure rules that the loop needs. With it a {@link RecordClient} gives
 * every kind the same handling of unknown outcomes, lost data and clocks.
 */
export interface RecordCodec<R extends StoredRecord> {
  /** The word for one of its records in errors: "semaphore". */
  readonly kind: string;
  /** Keys of its records begin with it, and end with the record's name. */
  readonly keyPrefix: string;
  /** @throws CorruptRecordError or NewerRecordError when the text can't be read */
  decode(name: string, text: string): R;
  encode(record: R): string;
  /** Whether a record lacks writes that `furthest` had. */
  isBehind(record: R, furthest: R): boolean;
  /**
   * The record to write when the store lost writes: as far as this node knew it, with a grace for holders that this node
   * never heard of. It must not be behind `found`, or two nodes would go on restoring, each its own.
   *
   * @param found what stands in its place, if anything
   */
  restore(furthest: R, found: R | undefined, view: View, nonce: string): R;
  /** The same record written again, which confirms a write whose answer was lost. */
  rewrite(record: R, view: View, nonce: string): R;
  /** Everything in the record that ends by itself: this node counts its time from its first sight. */
  leases(record: R): readonly Expiring[];
}

/** A text of a record that a client took over. */
export interface RecordChanged<R extends StoredRecord> {
  readonly record: R;
  /** The furthest that this node had seen before; absent for the first one. */
  readonly former: R | undefined;
  /** Whether this node wrote it: the store reports no node's own writes back to it. */
  readonly own: boolean;
}

/** Notified by a client of its record. The calls come while the client works: they must not throw, and not wait. */
export interface RecordListener<R extends StoredRecord> {
  /** Another text than before was read, reported or written. */
  changed?(change: RecordChanged<R>): void;
  /** A report or a listing shows the record as this node knows it. */
  confirmed?(): void;
  /** The store had lost writes, and this node put them back. */
  restored?(record: R): void;
  /** The record can't be read. Once per text, not at each of the calls that it denies. */
  unreadable?(error: Error): void;
}
