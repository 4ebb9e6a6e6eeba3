import type { HandledType, TaskDetails, TaskView, WaitingType } from '../../tasks/index.js';
import { fields, table } from '../text/table.js';
import { timeText } from '../text/times.js';

/** Formats tasks, one line each. */
export function tasksText({ tasks }: { readonly tasks: readonly TaskView[] }): string {
  if (tasks.length === 0) return 'no tasks';
  return table(['id', 'state', 'attempts', 'crashes', 'submitted', 'remark'], tasks.map(taskRow));
}

/** Formats the types of which tasks wait, and those that the answering node handles. */
export function typesText({
  waiting,
  here,
}: {
  readonly waiting: readonly WaitingType[];
  readonly here: readonly HandledType[];
}): string {
  if (waiting.length + here.length === 0) return 'no tasks wait';
  const since = new Map(waiting.map(({ type, offeredAt }) => [type, timeText(offeredAt)]));
  const types = [...new Set([...since.keys(), ...here.map(({ type }) => type)])].toSorted();
  const rows = types.map((type) => {
    const handled = here.filter((each) => each.type === type);
    const running = handled.reduce((sum, each) => sum + each.running, 0);
    const obstacles = handled.flatMap(({ obstacle }) => obstacle ?? []);
    return [type, since.get(type) ?? '-', handled.length > 0 ? String(running) : '-', obstacles.join(', ')];
  });
  return table(['type', 'waiting since', 'running here', 'remark'], rows);
}

/** Formats one task. */
export function taskText({ task, explanation }: TaskDetails): string {
  const json = (value: unknown) => (value === undefined ? undefined : JSON.stringify(value));
  return [
    `${task.id}: ${explanation.sentence}`,
    fields([
      ['state', task.state],
      ['token', String(task.token)],
      ['submitted', timeText(task.submittedAt)],
      ['attempts', `${task.attempts} of ${task.maxAttempts} failed, ${task.crashes} of ${task.maxCrashes} crashed`],
      ['data', json(task.data)],
      ['result', json(task.result)],
    ]),
  ].join('\n');
}

function taskRow({ id, state, attempts, crashes, submittedAt, lastError, lease, cancel }: TaskView): string[] {
  const remarks = [
    ...(lease ? [`${lease.instance} until ${timeText(lease.until)}`] : []),
    ...(cancel ? [`cancelled by ${cancel.by}`] : []),
    ...(lastError ? [lastError.message] : []),
  ];
  return [id, state, String(attempts), String(crashes), timeText(submittedAt), remarks.join('; ')];
}
