import type { ComponentChildren } from 'preact';
import { type Columns, withoutValue } from '../../lists/column.js';
import { countsText } from '../../lists/tasks.js';
import type { TaskView } from '../api/answers.js';
import { Badge } from '../parts/badge.js';
import { Excerpt } from '../parts/excerpt.js';
import { type Cells, PlainTable } from '../parts/plain-table.js';
import { TaskLink } from '../parts/task-links.js';
import { TaskState } from './task-state.js';

/** An attempt that failed or crashed, or the end of a task that gets no further one. */
export interface ShownAttempt {
  readonly task: TaskView;
  /** Its end: cluster time in ms. */
  readonly at: number;
  readonly outcome: 'failed' | 'crashed' | 'given up';
  /** Number of the attempt; absent for the end of a task. */
  readonly number?: number;
  /** The node; absent for the end of a task. */
  readonly instance?: string;
  readonly error?: string;
}

/** The last attempts of a task that did not succeed, newest first. */
export function attemptsOf(task: TaskView): ShownAttempt[] {
  const { pastAttempts = [], attempts, crashes } = task;
  const first = attempts + crashes - pastAttempts.length;
  return pastAttempts
    .map(({ endedAt, instance, error }, index): ShownAttempt => {
      const number = first + index + 1;
      const attempt = { task, at: endedAt, instance, ...(number > 0 && { number }) };
      return error === undefined ? { ...attempt, outcome: 'crashed' } : { ...attempt, outcome: 'failed', error };
    })
    .toReversed();
}

/** The end of a task that did not succeed. */
export function endOf(task: TaskView): ShownAttempt[] {
  const { endedAt, lastError } = task;
  if (endedAt === undefined) return [];
  const error = lastError && { error: `${lastError.name}: ${lastError.message}` };
  return [{ task, at: endedAt, outcome: 'given up', ...error }];
}

interface AttemptTableProps {
  readonly attempts: readonly ShownAttempt[];
  /** Name of the node of an instance. */
  readonly nameOf: (instance: string) => string;
}

/** Lists attempts, newest first unless the address asks for another order. */
export function AttemptTable({ attempts, nameOf }: AttemptTableProps) {
  return (
    <PlainTable
      label="Attempts"
      columns={{
        ...COLUMNS,
        node: { title: 'Node', value: ({ instance }) => instance && nameOf(instance), firstOrder: 'ascending' },
        remark: withoutValue('Remark'),
      }}
      rows={attempts.toSorted((one, other) => other.at - one.at)}
      keyOf={({ task, at, outcome }) => `${task.id} ${at} ${outcome}`}
      cells={CELLS}
    />
  );
}

const COLUMNS: Columns<ShownAttempt> = {
  when: { title: 'When', value: ({ at }) => at, kind: 'time', firstOrder: 'descending' },
  outcome: { title: 'Outcome', value: ({ outcome }) => outcome, firstOrder: 'ascending' },
  task: { title: 'Task', value: ({ task }) => task.id, firstOrder: 'ascending' },
  attempt: { title: 'Attempt', value: ({ number }) => number, firstOrder: 'descending' },
};

const CELLS: Cells<ShownAttempt> = {
  outcome: {
    show: ({ task, outcome }) =>
      outcome === 'given up' && !ENDED_BY_ATTEMPTS.has(task.state) ? (
        <TaskState task={task} />
      ) : (
        <Badge tone="bad">{outcome}</Badge>
      ),
  },
  task: { show: ({ task }) => <TaskLink id={task.id} /> },
  attempt: {
    show: ({ task, number }) => (number === undefined ? countsText(task) : `${number} of ${task.maxAttempts}`),
    class: 'number',
    isNamed: true,
  },
  node: { isNamed: true },
  remark: {
    show: ({ task, outcome, error }) => (error === undefined ? whyOf(task, outcome) : <Excerpt>{error}</Excerpt>),
    class: 'detail',
  },
};

/** Tasks in these states are given up because of their attempts. The other states say more than that. */
const ENDED_BY_ATTEMPTS: ReadonlySet<TaskView['state']> = new Set(['failed', 'crashed']);

function whyOf({ cancel }: TaskView, outcome: ShownAttempt['outcome']): ComponentChildren {
  if (outcome === 'crashed') return 'its node noted no end before the lease was over';
  if (!cancel) return undefined;
  return <Excerpt>{`cancelled by ${cancel.by}${cancel.reason === undefined ? '' : `: “${cancel.reason}”`}`}</Excerpt>;
}
