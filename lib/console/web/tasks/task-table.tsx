import { type Columns, pick } from '../../lists/column.js';
import { TASK_COLUMNS, countsText } from '../../lists/tasks.js';
import type { TaskView } from '../api/answers.js';
import { Excerpt } from '../parts/excerpt.js';
import { type Cells, PlainTable } from '../parts/plain-table.js';
import { Distance } from '../parts/time.js';
import { TaskLink } from '../parts/task-links.js';
import { TaskProgressBar, TaskState, attemptOf } from './task-state.js';

interface TaskTableProps {
  readonly tasks: readonly TaskView[];
  /** Name of the node of an instance. */
  readonly nameOf: (instance: string) => string;
}

/** Lists tasks with what they wait for, or where they run. */
export function TaskTable({ tasks, nameOf }: TaskTableProps) {
  return (
    <PlainTable
      label="Tasks"
      columns={COLUMNS}
      rows={tasks}
      keyOf={({ id }) => id}
      cells={{ ...CELLS, remark: { show: (task) => <Present task={task} nameOf={nameOf} /> } }}
    />
  );
}

const COLUMNS: Columns<TaskView> = {
  ...pick(TASK_COLUMNS, ['task', 'state', 'submitted']),
  attempt: { title: 'Attempt', value: attemptOf },
  remark: TASK_COLUMNS.remark,
};

const CELLS: Cells<TaskView> = {
  task: {
    show: ({ id, priority }) => (
      <>
        <TaskLink id={id} />
        {priority !== 'normal' && <span class="second">{priority} priority</span>}
      </>
    ),
  },
  state: { show: (each) => <TaskState task={each} /> },
  submitted: { show: ({ submittedAt }) => <Distance at={submittedAt} />, class: '', isNamed: true },
  attempt: { title: countsText, isNamed: true },
};

function Present({ task, nameOf }: { readonly task: TaskView; readonly nameOf: (instance: string) => string }) {
  const { lease, runAt, after = [], queue, progress, lastError } = task;
  return (
    <>
      {lease && (
        <>
          on <strong>{nameOf(lease.instance)}</strong>, lease ends <Distance at={lease.until} />
        </>
      )}
      {progress && lease && <TaskProgressBar progress={progress} />}
      {runAt !== undefined && (
        <>
          runs <Distance at={runAt} />
        </>
      )}
      {queue !== undefined && <span class="second">in the queue {queue}</span>}
      {after.length > 0 && (
        <span class="second">
          after <TaskLink id={after[0]!} />
          {after.length > 1 && ` and ${after.length - 1} more`}
        </span>
      )}
      {lastError && (
        <span class="second">
          <Excerpt>{`last error: ${lastError.message}`}</Excerpt>
        </span>
      )}
    </>
  );
}
