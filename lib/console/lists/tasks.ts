import type { HandledType, TaskView, WaitingType } from '../../tasks/index.js';
import type { Columns } from './column.js';
import { timeText } from './texts.js';

/** Tasks. */
export const TASK_COLUMNS = {
  task: { title: 'Task', value: ({ id }) => id },
  state: { title: 'State', value: ({ state }) => state },
  attempts: { title: 'Attempts', value: ({ attempts }) => attempts },
  crashes: { title: 'Crashes', value: ({ crashes }) => crashes },
  submitted: { title: 'Submitted', value: ({ submittedAt }) => submittedAt, kind: 'time' },
  remark: { title: 'Remark', value: remarkOf },
} satisfies Columns<TaskView>;

function remarkOf({ lastError, lease, cancel }: TaskView): string {
  return [
    ...(lease ? [`${lease.instance} until ${timeText(lease.until)}`] : []),
    ...(cancel ? [`cancelled by ${cancel.by}`] : []),
    ...(lastError ? [lastError.message] : []),
  ].join('; ');
}

/** The counts of attempts that did not succeed: "2 of 5 failed, 1 of 3 crashed". */
export function countsText({ attempts, maxAttempts, crashes, maxCrashes }: TaskView): string {
  return `${attempts} of ${maxAttempts} failed, ${crashes} of ${maxCrashes} crashed`;
}

/** A type of which tasks wait, or which the answering node handles. */
interface TypeRow {
  readonly type: string;
  readonly waiting: WaitingType | undefined;
  readonly here: readonly HandledType[];
}

/** All types by their names. */
export function typeRows(waiting: readonly WaitingType[], here: readonly HandledType[]): TypeRow[] {
  const names = new Set([...waiting, ...here].map(({ type }) => type));
  return [...names].toSorted().map((type) => ({
    type,
    waiting: waiting.find((each) => each.type === type),
    here: here.filter((each) => each.type === type),
  }));
}

/** Types of tasks. */
export const TYPE_COLUMNS = {
  type: { title: 'Type', value: ({ type }) => type },
  waiting: { title: 'Waiting since', value: ({ waiting }) => waiting?.offeredAt, kind: 'time' },
  running: {
    title: 'Running here',
    value: ({ here }) => (here.length > 0 ? here.reduce((sum, { running }) => sum + running, 0) : undefined),
  },
  remark: { title: 'Remark', value: ({ here }) => here.flatMap(({ obstacle }) => obstacle ?? []).join(', ') },
} satisfies Columns<TypeRow>;
