/**
 * The log of one run of a cluster. Entries come from the processes that use permits, from the resource that the permits
 * guard, and from the controller that injects faults. `at` is ms by the monotonic clock that all processes of one machine
 * share, so entries of different processes can be ordered.
 */
export type HistoryEntry = Source &
  (CallEntry | PermitEntry | MemberEntry | StalledEntry | SuspectedEntry | OutsideEntry);

interface Source {
  readonly at: number;
  /** A new name for every start of a process. */
  readonly process: string;
}

/** The entries of one kind. */
export type EntryOf<E extends HistoryEntry['event']> = Extract<HistoryEntry, { readonly event: E }>;

/**
 * A call of the gatekeeper begins; its answer carries the same `call`, which no other call of any process has. Without an
 * answer its outcome is unknown.
 */
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
  /** ms from `at` on for which the holder may count on the permit. */
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
  /** `error`: the kind of it, so that they can be counted (its code or its class). */
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
      /**
       * For `after-timers`: when that turn of timers ran. The machine may have had no time for the process between it and
       * `at`, and a permit that ended in between can't have been noticed.
       */
      readonly since?: number;
    };

/** About membership leases; `incarnation` is the id of an unbroken one. */
export type MemberEntry =
  /** The process counts on its own lease at this moment. */
  | { readonly event: 'counted'; readonly incarnation: string }
  /** The process says that the lease of another one is over, because that one crashed or left. */
  | { readonly event: 'judged'; readonly incarnation: string };

/**
 * The process finds that it could do nothing since `since` (the same clock as `at`): its event loop was blocked, or the
 * machine had no time for it. Like a frozen process, it can't learn anything meanwhile.
 */
export interface StalledEntry {
  readonly event: 'stalled';
  readonly since: number;
}

/** The process does not trust the clocks from now on, for some time: then takeovers may take longer. */
export interface SuspectedEntry {
  readonly event: 'suspected';
  /** Why, in a sentence. */
  readonly reason: string;
}

/** How a leader hands over. */
export type Handover = 'resignation' | 'transfer' | 'shutdown';

export type OutsideEntry =
  /**
   * By the controller, about `process`: it can't do anything any more (logged when that is sure), or until it is thawed
   * (logged before it is). A process that starts again has a new name.
   */
  | { readonly event: 'killed' | 'frozen' | 'thawed' }
  /** By the controller: `process` is cut off from the store and the others from now on. */
  | { readonly event: 'cut' }
  /** By the controller: `process`, which leads, is asked now to hand its leadership over. */
  | { readonly event: 'handing-over'; readonly how: Handover }
  /**
   * By the controller: the number of permits from now on. A lower number is logged when the edit is surely in force, a higher
   * one before the edit is sent. Needed before the first call.
   */
  | { readonly event: 'limited'; readonly semaphore: string; readonly permits: number }
  /**
   * By the controller: a fault of the store or the network begins, or is over. Meanwhile no takeover is expected. Deaths
   * and freezes of processes have separate entries.
   */
  | { readonly event: 'fault-begun' | 'fault-over'; readonly fault: string }
  /**
   * By the controller: the injection of a fault has ended. All members run and are connected, and so are these processes,
   * the only ones that live.
   */
  | { readonly event: 'all-well'; readonly processes: readonly string[] }
  /** By the guarded resource, about a write by `process`. */
  | {
      readonly event: 'written';
      readonly semaphore: string;
      readonly slot: number;
      readonly token: number;
      readonly isApplied: boolean;
    };
