/**
 * Kinds of alerts. `run-failed`: a run failed, crashed or lost its permit. `run-missed`: a job missed three runs in a
 * row. `run-overdue`: a run took longer than the time between two runs. `no-node`: no living node may run a job.
 * `store-lost`: a node can't ask the store. `quorum-lost`: too few members of the store run. `clock-suspect`: clocks
 * can't be trusted. `no-leader`: a scope has no leader. `resources-unowned`: resources have no owner. `archive-failing`:
 * the archive of definitions fails.
 * `degraded`: any other fault of a node's health.
 */
export const ALERT_KINDS = [
  'run-failed',
  'run-missed',
  'run-overdue',
  'no-node',
  'store-lost',
  'quorum-lost',
  'clock-suspect',
  'no-leader',
  'resources-unowned',
  'archive-failing',
  'degraded',
] as const;

/**
 * Kind of an alert: one of `ALERT_KINDS`.
 *
 * @useDeclaredType
 */
export type AlertKind = (typeof ALERT_KINDS)[number];

/** A message about a trouble that began, goes on or has ended. */
export interface Alert {
  /** Stable id of the trouble: the same in each message about it. Two nodes that see one trouble of a job use one id. */
  readonly id: string;
  /** The same for all nodes that see troubles of this kind about the same subject, also if their ids differ. */
  readonly groupKey: string;
  /** The kind of trouble. */
  readonly kind: AlertKind;
  /** `firing`: it lasts. `resolved`: it has ended. */
  readonly status: 'firing' | 'resolved';
  /** `critical`: nothing is granted, or nothing leads. */
  readonly severity: 'critical' | 'warning';
  /** Cluster time at which it began: ms since the epoch. */
  readonly startsAt: number;
  /** Cluster time at which its end was noticed: ms since the epoch. Only if `resolved`. */
  readonly endsAt?: number;
  /** How often it occurred since the last message about it, for example failed runs. At least 1 in the first message. */
  readonly count: number;
  /** For people: the trouble, and what to do. At most 1000 characters. */
  readonly sentence: string;
  /** Name of the semaphore, if it is about one. */
  readonly semaphore?: string;
  /** Name of the job, if it is about one. */
  readonly job?: string;
}
