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
