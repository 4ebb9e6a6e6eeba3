/**
 * What happened in one run of a cluster, told by everyone who took part: the processes that use permits, the resource
 * that the permits guard, and whoever causes the faults. `at` is ms by the monotonic clock that all processes of one
 * machine share, so that entries of different processes can be put in order.
 */
export type HistoryEntry = Source & (CallEntry | PermitEntry | StalledEntry | OutsideEntry);

interface Source {
  readonly at: number;
  /** A name of its own for every start of a process. */
  readonly process: string;
}

/** The entries of one kind. */
export type EntryOf<E extends HistoryEntry['event']> = Extract<HistoryEntry, { readonly event: E }>;

/**
 * A call of the gatekeeper begins; its answer carries the same `call`, which no other call of any process has. No answer:
 * nobody knows what became of it.
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
    };

/**
 * The process finds that it could do nothing since `since` (the same clock as `at`): its event loop was blocked, or the
 * machine had no time for it. Nobody can be told of anything meanwhile, as when a process is frozen.
 */
export interface StalledEntry {
  readonly event: 'stalled';
  readonly since: number;
}

export type OutsideEntry =
  /**
   * By the controller, about `process`: it can't do anything any more (told when that is sure), or until it is thawed
   * (told before it is). A process that starts anew has a new name.
   */
  | { readonly event: 'killed' | 'frozen' | 'thawed' }
  /**
   * By the controller: how many permits there may be from now on. Fewer are told when the edit is surely in force, more
   * before it is sent. Needed before the first call.
   */
  | { readonly event: 'limited'; readonly semaphore: string; readonly permits: number }
  /**
   * By the controller: a fault of the store or the network begins, or is over. Nobody expects a takeover meanwhile.
   * Death and freezing of processes are told by their own entries.
   */
  | { readonly event: 'fault-begun' | 'fault-over'; readonly fault: string }
  /** By the guarded resource, about a write by `process`. */
  | {
      readonly event: 'written';
      readonly semaphore: string;
      readonly slot: number;
      readonly token: number;
      readonly isApplied: boolean;
    };
