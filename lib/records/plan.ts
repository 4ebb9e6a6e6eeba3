import type { View } from '../decision/index.js';
import type { Notify } from '../stores/index.js';
import type { StoredRecord } from './record-codec.js';

/** A moment by both of the node's clocks: what a lease counts from. */
export interface Instant {
  readonly monotonic: number;
  readonly wall: number;
}

/** The next step with a record: leave it and give a result, or write it and give a result when that is done. */
export type Step<R extends StoredRecord, T> = { readonly result: T } | Write<R, T>;

export interface Write<R extends StoredRecord, T> {
  readonly write: R;
  readonly done: (sent: Instant) => T;
  /**
   * Whether a record that another writer wrote since holds this write's effect. Then the write was applied although its
   * answer was lost, and it counts as done. Unless given, only the write's own nonce proves that.
   *
   * @param isUncertain the answer to the write was lost; false: the store answered that it was not applied
   */
  readonly isDoneIn?: (record: R | undefined, isUncertain: boolean) => boolean;
  /** Which other nodes hear of it by a hint; `'all'` unless given. */
  readonly notify?: Notify;
}

/** A pure reading of the record; run again whenever the record turns out to be another. */
export type Plan<R extends StoredRecord, T> = (record: R | undefined, view: View, nonce: string) => Step<R, T>;
