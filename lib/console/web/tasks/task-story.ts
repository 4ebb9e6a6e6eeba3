import type { AuditEntry, TaskView } from '../api/answers.js';
import type { StoryEntry } from '../parts/story.js';
import { attemptOf } from './task-state.js';

/** Tokens per ms of cluster time: as in `lib/core/decision/token.ts`. */
const PER_MS = 1024;

/**
 * The events of a task that are known, oldest first: from its record, and the changes by hand from the audit log.
 *
 * @param nameOf name of the node of an instance
 */
export function storyOf(
  task: TaskView,
  changes: readonly AuditEntry[],
  nameOf: (instance: string) => string,
): StoryEntry[] {
  const { id, submittedAt, cancel, parent } = task;
  const entries: StoryEntry[] = [
    { at: submittedAt, title: 'submitted', ...(parent !== undefined && { detail: `by the handler of ${parent}` }) },
    ...changes.filter((entry) => entry.task === id && isByHand(entry) && entry.at > submittedAt).map(changeOf),
    ...attemptsOf(task, nameOf),
    ...pastOf(task, nameOf),
    ...(cancel && !changes.some((entry) => isCancelOf(entry, task)) ? [cancelOf(cancel)] : []),
    ...endOf(task),
  ];
  // Of the same ms, an end comes last: the sort is stable.
  return entries.toSorted((one, other) => one.at - other.at);
}

/** Submissions and claims of programs stand in the task itself. */
function isByHand({ action }: AuditEntry): boolean {
  return action !== 'submit-tasks' && action !== 'claim-tasks';
}

const DONE = { 'retry-task': 'tried it again', 'release-task': 'took it from the program that had it' };

function changeOf({ at, action, by, reason }: AuditEntry): StoryEntry {
  const title = `${by} ${action === 'retry-task' || action === 'release-task' ? DONE[action] : 'cancelled it'}`;
  return { at, title, tone: 'warning', ...(reason !== undefined && { detail: `“${reason}”` }) };
}

function isCancelOf({ task, action, at }: AuditEntry, { id, cancel }: TaskView): boolean {
  return task === id && action === 'cancel-task' && cancel !== undefined && Math.abs(at - cancel.at) < 5000;
}

function cancelOf({ at, by, reason }: NonNullable<TaskView['cancel']>): StoryEntry {
  return { at, title: `${by} cancelled it`, tone: 'warning', ...(reason !== undefined && { detail: `“${reason}”` }) };
}

function attemptsOf(task: TaskView, nameOf: (instance: string) => string): StoryEntry[] {
  const { token, submittedAt, lease } = task;
  const at = Math.floor(token / PER_MS);
  // A task that was submitted anew keeps the token of its former life.
  if (token === 0 || at < submittedAt) return [];
  const title = lease ? `attempt ${attemptOf(task)} began` : 'last attempt began';
  return [{ at, title, ...(lease && { detail: `on ${nameOf(lease.instance)}`, tone: 'accent' as const }) }];
}

function pastOf({ pastAttempts = [], lastError }: TaskView, nameOf: (instance: string) => string): StoryEntry[] {
  const past = pastAttempts.map(({ endedAt: at, instance, error }): StoryEntry => {
    const node = nameOf(instance);
    return error === undefined
      ? { at, title: 'attempt crashed', detail: `${node} noted no end before the lease was over`, tone: 'bad' }
      : { at, title: 'attempt failed', detail: `on ${node}: ${error}`, tone: 'bad' };
  });
  // An error that ended the task at once is that of no past attempt.
  const isTold = pastAttempts.some(({ endedAt, error }) => error !== undefined && endedAt >= (lastError?.at ?? 0));
  if (!lastError || isTold) return past;
  return [...past, { at: lastError.at, title: 'attempt failed', detail: errorText(lastError), tone: 'bad' }];
}

function endOf({ state, endedAt }: TaskView): StoryEntry[] {
  if (endedAt === undefined) return [];
  return [{ at: endedAt, title: `ended: ${state}`, tone: state === 'completed' ? 'good' : 'bad' }];
}

function errorText({ name, message }: NonNullable<TaskView['lastError']>): string {
  return message.startsWith(name) ? message : `${name}: ${message}`;
}
