/** A part of a record that ends by itself: a permit's lease, or the grace after lost data. */
export interface Expiring {
  readonly id: string;
  /** Cluster time in ms at which it ends. */
  readonly expiresAt: number;
  /** ms from its last write to its end: other nodes count them from the moment when they first saw it. */
  readonly duration: number;
}

/** A permit as the record keeps it: one slot of a semaphore, held by one node instance. */
export interface StoredPermit extends Expiring {
  /** 0 .. permits-1: the permit's place; also "node k of n". */
  readonly slot: number;
  /** Fencing token: grows with every new grant of the semaphore, kept by a refresh. */
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
  /** The duration that its calls asked for; absent: refreshes take the definition's. */
  readonly asked?: AskedDuration;
}

/** A duration that a call asked for in place of the definition's. */
export interface AskedDuration {
  /** ms */
  readonly duration: number;
  /** The definition's duration when this one was asked for, in ms: a shorter one that came later is an operator's edit and counts. */
  readonly under: number;
}
