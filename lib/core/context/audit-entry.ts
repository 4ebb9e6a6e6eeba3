import { CHANGES, type Pause, type SemaphoreDefinition, type StoredPermit } from '../decision/index.js';
import type { NodeIdentity } from './node-identity.js';

/** Changes of who leads a scope. */
export const HANDOVERS = ['step-down', 'transfer'] as const;

/** Orders of operators for an allocation group. */
export const ORDER_KINDS = ['pin', 'unpin', 'drain', 'undrain', 'confirm-resources'] as const;

/** Changes of a task, of a group of tasks, or of the work of one node on a type, by a person or a program. */
export const TASK_CHANGES = [
  'cancel-task',
  'retry-task',
  'release-task',
  'cancel-group',
  'type-off',
  'type-on',
] as const;

/** Submissions and claims of tasks by programs. One entry stands for many. */
export const TASK_CALLS = ['submit-tasks', 'claim-tasks'] as const;

/** The start and the end of a maintenance window. */
export const MAINTENANCE_CHANGES = ['start-maintenance', 'end-maintenance'] as const;

/** All kinds of audited changes. */
export const AUDIT_ACTIONS = [
  ...CHANGES,
  ...HANDOVERS,
  ...ORDER_KINDS,
  ...TASK_CHANGES,
  ...TASK_CALLS,
  ...MAINTENANCE_CHANGES,
  'revoke',
  'restore',
  'run-now',
] as const;

/** Outcomes of a change that was not surely made. */
export const CHANGE_OUTCOMES = ['unknown', 'not-made'] as const;

/** Kind of an audited change. */
export type AuditAction = (typeof AUDIT_ACTIONS)[number];

/** An entry of the audit log: a change by a person or a program. */
export interface AuditEntry {
  /** Unique. Absent in entries that a former version wrote. */
  readonly id?: string;
  /** Cluster time in ms. */
  readonly at: number;
  /** The kind of change. */
  readonly action: AuditAction;
  /**
   * Name of the semaphore, or `allocation:` with the name of an allocation group, `task:` with the type of a
   * task, or `maintenance:` with the name of a window.
   */
  readonly semaphore: string;
  /** Name of the person or program that made the change. */
  readonly by: string;
  /** The reason that was given. */
  readonly reason?: string;
  /** The node that wrote the change. */
  readonly node: NodeIdentity;
  /** The revision after the change. */
  readonly revision?: number;
  /** The definition before the change; absent if there was none. */
  readonly from?: SemaphoreDefinition;
  /** The definition after the change; absent if there is none. */
  readonly to?: SemaphoreDefinition;
  /** The pause before the change; absent if the semaphore was not paused. */
  readonly paused?: Pause;
  /** The same in all entries of one change of many, also if it took several calls. */
  readonly bulk?: string;
  /** Number of this part in its change of many, from 1. */
  readonly part?: number;
  /** Of an undo: the id of the entry that it undid. */
  readonly undoes?: string;
  /** Of an undo: the `bulk` of the entry that it undid. */
  readonly undoesBulk?: string;
  /**
   * `unknown`: the store gave no answer, and the call failed, so the change may have been made. `not-made`: it surely was not,
   * as a later change shows. Absent: it was made.
   */
  readonly outcome?: (typeof CHANGE_OUTCOMES)[number];
  /** Id of the change of this semaphore that this one came after; absent if there was none. */
  readonly follows?: string;
  /** The revoked permit; of a step-down or a transfer, the permit of the leader. */
  readonly permit?: StoredPermit;
  /** Of a transfer: the node that leads next. */
  readonly target?: NodeIdentity;
  /** Of an order for an allocation group: the resource and the name of the node that it is about, or the confirmed set. */
  readonly order?: {
    /** Id of the resource; absent if the order is about all resources of the node. */
    readonly resource?: string;
    /** Name of the node; absent if the order ends a pin. */
    readonly node?: string;
    /** Number of the known resources that are enough for the set to count. */
    readonly left?: number;
  };
  /** Of a run that was asked for: the name of the job. */
  readonly job?: string;
  /** Of a change of a task or of a group: its id. Of submissions and claims: the id of the first task. */
  readonly task?: string;
  /** Of submissions and claims: the number of tasks. */
  readonly count?: number;
}
