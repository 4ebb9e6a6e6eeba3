import type { NodeClock } from '../async/node-clock.js';
import type { View } from '../decision/index.js';
import type { Notify } from '../store/index.js';
import type { StoredRecord } from './record-codec.js';

/** A moment, read from both clocks of the node. A lease is counted from such a moment. */
export interface Instant {
  readonly monotonic: number;
  readonly wall: number;
}

/** Reads both clocks. */
export function instantOf(clock: Pick<NodeClock, 'monotonic' | 'wall'>): Instant {
  return { monotonic: clock.monotonic(), wall: clock.wall() };
}

/** The next step with a record: return a result without a write, or write the record and then return a result. */
export type Step<R extends StoredRecord, T> = Result<T> | Write<R, T>;

export interface Result<T> {
  readonly result: T;
  /** Called with this result if an earlier write of the same call got no clear answer: it may be applied, now or later. */
  readonly unclear?: () => void;
}

export interface Write<R extends StoredRecord, T> {
  readonly write: R;
  readonly done: (sent: Instant) => T;
  /**
   * Whether a later record of another writer shows the effect of this write. Then the write was applied although its
   * answer was lost, and it counts as done. Without this function, only the write's own nonce proves that.
   *
   * @param isUncertain true if the answer was lost; false if the store answered that the write was not applied, which may be wrong
   */
  readonly isDoneIn?: (record: R | undefined, isUncertain: boolean) => boolean;
  /** Which other nodes a hint notifies of the write. Default `'all'`. */
  readonly notify?: Notify;
}

/** A pure function from the record to the next step. It runs again if the record has changed in the store. */
export type Plan<R extends StoredRecord, T> = (record: R | undefined, view: View, nonce: string) => Step<R, T>;
