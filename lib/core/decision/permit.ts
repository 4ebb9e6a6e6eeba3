/** A part of a record that expires: a permit's lease, or the grace after lost data. */
export interface Expiring {
  /** Random id: a new permit or grace has a new one, a refresh keeps it. */
  readonly id: string;
  /** Cluster time in ms at which it ends. Later than it lasts, if a clock that stamped it was ahead of the others. */
  readonly expiresAt: number;
  /** ms for which it lasts from its last write. Other nodes count this time from the moment when they first saw the write. */
  readonly duration: number;
  /** Random, if `expiresAt` does not tell this write from others: cluster time stands still, or a clock was ahead before. */
  readonly nonce?: string;
}

/** Differences between the leases of two versions of a record. Leases that are the same in both may be in both lists. */
export interface LeaseChanges {
  readonly gone: readonly Expiring[];
  readonly begun: readonly Expiring[];
}

/** A permit as the record keeps it: one slot of a semaphore, held by one node instance. */
export interface StoredPermit extends Expiring {
  /** Index of the permit, 0 .. permits-1. An application can use it as "node k of n". */
  readonly slot: number;
  /** Fencing token: grows with every new grant of the semaphore. A refresh keeps it. */
  readonly token: number;
  /** The process that holds it: a random id per process start. */
  readonly instance: string;
  /** The user of the permit in that process; the instance itself unless the request named another. */
  readonly holder: string;
  /** Name of the acquirer that holds it. */
  readonly acquirer: string;
  /** Group of the node that holds it. */
  readonly group: string;
  /** Cluster time in ms of the grant. */
  readonly grantedAt: number;
  /** The duration that its calls asked for. If absent, refreshes use the definition's duration. */
  readonly asked?: AskedDuration;
}

/** A duration that a call asked for instead of the definition's duration. */
export interface AskedDuration {
  /** ms */
  readonly duration: number;
  /**
   * The definition's duration at the time of the call, in ms. If an operator shortens it later, the shorter one counts.
   */
  readonly under: number;
}

/**
 * Keeps the next grant of a semaphore for one process, or for all but one, until it expires. It takes no permit away from
 * its holder.
 */
export interface Preference extends Expiring {
  /** The process that the next grant is kept for. */
  readonly instance: string;
  /** Turns the meaning round: the next grant goes to any process but `instance`. */
  readonly isExcluded?: true;
}
