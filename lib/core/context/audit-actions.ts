import { CHANGES } from '../decision/index.js';

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
