import type { SemaphoreRecord, View } from '../decision/index.js';

/** A moment by both of the node's clocks: what a lease counts from. */
export interface Instant {
  readonly monotonic: number;
  readonly wall: number;
}

/** What to do with the record: leave it and give a result, or write it and give a result when that is done. */
export type Step<T> = { readonly result: T } | Write<T>;

export interface Write<T> {
  readonly write: SemaphoreRecord;
  readonly done: (sent: Instant) => T;
  /** Nobody waits to hear of it. */
  readonly notify?: boolean;
}

/** A pure reading of the record; run again whenever the record turns out to be another. */
export type Plan<T> = (record: SemaphoreRecord | undefined, view: View, nonce: string) => Step<T>;
