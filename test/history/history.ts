/**
 * What happened in one run of a cluster, told by everyone who took part: the processes that use permits, the resource
 * that the permits guard, and whoever causes the faults. `at` is ms by the monotonic clock that all processes of one
 * machine share, so that entries of different processes can be put in order.
 */
export type HistoryEntry = { readonly at: number; readonly process: string } & (CallEntry | PermitEntry | OutsideEntry);

/** A call of the gatekeeper begins; its answer carries the same `call`. No answer: nobody knows what became of it. */
export interface InvokedEntry {
  readonly event: 'invoked';
  readonly call: string;
  readonly verb: 'acquire' | 'refresh' | 'release';
  readonly semaphore: string;
  /** The id of the permit that is refreshed or released. */
  readonly permit?: string;
}

export interface GrantedEntry {
  readonly event: 'granted';
  readonly call: string;
  readonly semaphore: string;
  readonly permit: string;
  readonly slot: number;
  readonly token: number;
  /** ms for which the holder was told that it may count on the permit, from `at` on. */
  readonly remaining: number;
}

export interface RefreshedEntry {
  readonly event: 'refreshed';
  /** Missing where the gatekeeper refreshed it by itself. */
  readonly call?: string;
  readonly semaphore: string;
  readonly permit: string;
  readonly remaining: number;
}

export type CallEntry =
  | InvokedEntry
  | GrantedEntry
  | RefreshedEntry
  | { readonly event: 'released'; readonly call: string; readonly semaphore: string; readonly permit: string }
  | { readonly event: 'denied'; readonly call: string; readonly semaphore: string; readonly reason: string }
  | { readonly event: 'failed'; readonly call: string; readonly semaphore: string; readonly error: string };

export type PermitEntry =
  /** The signal aborted. */
  | { readonly event: 'ended'; readonly semaphore: string; readonly permit: string; readonly reason: string }
  /**
   * The first look at a permit after the process was frozen, in a callback of I/O or of a timer, and once more when the
   * first turn of timers is over.
   */
  | {
      readonly event: 'woken';
      readonly semaphore: string;
      readonly permit: string;
      readonly callback: 'io' | 'timer' | 'after-timers';
      /** Whether assertHeld() threw; undefined where only the signal was looked at. */
      readonly threw?: boolean;
      readonly aborted?: boolean;
    };

export type OutsideEntry =
  /** By the controller, about `process`: it can't do anything any more, or until it is thawed. */
  | { readonly event: 'killed' | 'frozen' | 'thawed' }
  /** By the controller, when the definition is surely in force: how many permits there may be from now on. */
  | { readonly event: 'limited'; readonly semaphore: string; readonly permits: number }
  /** By the controller: a fault begins, or everything is as it should be again. */
  | { readonly event: 'fault-begun' | 'fault-over'; readonly fault: string }
  /** By the guarded resource, about a write by `process`. */
  | {
      readonly event: 'written';
      readonly semaphore: string;
      readonly slot: number;
      readonly token: number;
      readonly isApplied: boolean;
    };
