import type { ComponentChildren } from 'preact';
import type { TaskView } from '../api/answers.js';
import { Badge } from '../parts/badge.js';
import { Excerpt } from '../parts/excerpt.js';
import { PlainTable } from '../parts/plain-table.js';
import { type Columns, sorted } from '../parts/sorting.js';
import { DateTime } from '../parts/time.js';
import { TaskLink } from '../parts/task-links.js';
import { TaskState, countsText } from './task-state.js';

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
  const columns = columnsOf(nameOf);
  const newestFirst = attempts.toSorted((one, other) => other.at - one.at);
  return (
    <PlainTable label="Attempts" columns={columns}>
      {sorted(newestFirst, columns).map((attempt) => (
        <Row key={`${attempt.task.id} ${attempt.at} ${attempt.outcome}`} attempt={attempt} nameOf={nameOf} />
      ))}
    </PlainTable>
  );
}

function columnsOf(nameOf: AttemptTableProps['nameOf']): Columns<ShownAttempt> {
  return {
    when: { title: 'When', by: ({ at }) => at, first: 'descending' },
    outcome: { title: 'Outcome', by: ({ outcome }) => outcome },
    task: { title: 'Task', by: ({ task }) => task.id },
    attempt: { title: 'Attempt', by: ({ number }) => number, first: 'descending' },
    node: { title: 'Node', by: ({ instance }) => instance && nameOf(instance) },
    detail: { title: 'Detail' },
  };
}

/** Tasks in these states are given up because of their attempts. The other states say more than that. */
const ENDED_BY_ATTEMPTS: ReadonlySet<TaskView['state']> = new Set(['failed', 'crashed']);

interface RowProps extends Pick<AttemptTableProps, 'nameOf'> {
  readonly attempt: ShownAttempt;
}

function Row({ attempt: { task, at, outcome, number, instance, error }, nameOf }: RowProps) {
  return (
    <tr>
      <td class="number">
        <DateTime at={at} />
      </td>
      <td>
        {outcome === 'given up' && !ENDED_BY_ATTEMPTS.has(task.state) ? (
          <TaskState task={task} />
        ) : (
          <Badge tone="bad">{outcome}</Badge>
        )}
      </td>
      <td>
        <TaskLink id={task.id} />
      </td>
      <td class="number" data-label="Attempt">
        {number === undefined ? countsText(task) : `${number} of ${task.maxAttempts}`}
      </td>
      <td data-label="Node">{instance !== undefined && nameOf(instance)}</td>
      <td class="detail">{error === undefined ? whyOf(task, outcome) : <Excerpt>{error}</Excerpt>}</td>
    </tr>
  );
}

function whyOf({ cancel }: TaskView, outcome: ShownAttempt['outcome']): ComponentChildren {
  if (outcome === 'crashed') return 'its node noted no end before the lease was over';
  if (!cancel) return undefined;
  return <Excerpt>{`cancelled by ${cancel.by}${cancel.reason === undefined ? '' : `: “${cancel.reason}”`}`}</Excerpt>;
}
