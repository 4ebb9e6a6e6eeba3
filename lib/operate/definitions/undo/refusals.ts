import type { AuditAction } from '../../../core/context/audit-actions.js';
import type { DefinitionChange } from '../../../core/decision/answers.js';

/* Why changes can't be undone, in words that follow a colon. The page of the console has them, too. */

/** Why changes of a kind can't be undone. */
const REFUSALS: Readonly<Record<Exclude<AuditAction, DefinitionChange['kind']>, string>> = {
  revoke: 'a revoked permit does not come back; its holder takes a new one with its next run',
  restore: 'it only put lost data back',
  'run-now': 'the run has begun, or was never taken',
  'step-down': 'another node leads since; transfer the leadership back',
  transfer: 'another node leads since; transfer the leadership back',
  pin: 'give the opposite order: unpin',
  unpin: 'give the opposite order: pin',
  drain: 'give the opposite order: undrain',
  undrain: 'give the opposite order: drain',
  'confirm-resources': 'the resources are gone; they get owners again when they are read again',
  'cancel-task': 'a cancelled task may have stopped its work; retry it',
  'retry-task': 'the task may run already; cancel it',
  'release-task': 'another worker may have the task; cancel it',
  'cancel-group': 'its tasks may have stopped their work; submit them again',
  'submit-tasks': 'the tasks may run already; cancel them',
  'claim-tasks': 'the programs work on the tasks',
  'type-off': 'switch the type on again',
  'type-on': 'switch the type off again',
  'start-maintenance': 'end the window',
  'end-maintenance': 'undo the resumes, or start the window again',
};

export const NOT_MADE = 'it was not made';
export const FORMER_VERSION = 'a former version wrote it';

/** @returns why no change of a kind can be undone; undefined for a kind that can */
export function refusalOfKind(action: AuditAction): string | undefined {
  return action in REFUSALS ? REFUSALS[action as keyof typeof REFUSALS] : undefined;
}
