import type { TaskView } from '../api/answers.js';
import { Excerpt } from '../parts/excerpt.js';
import { PlainTable } from '../parts/plain-table.js';
import { Distance } from '../parts/time.js';
import { TaskLink } from '../parts/task-links.js';
import { TaskProgressBar, TaskState, attemptOf, countsText } from './task-state.js';

interface TaskTableProps {
  readonly tasks: readonly TaskView[];
  /** Name of the node of an instance. */
  readonly nameOf: (instance: string) => string;
}

/** Lists tasks with what they wait for, or where they run. */
export function TaskTable({ tasks, nameOf }: TaskTableProps) {
  return (
    <PlainTable label="Tasks" columns={['Task', 'State', 'Submitted', 'Attempt', 'Now']}>
      {tasks.map((task) => (
        <tr key={task.id}>
          <td>
            <TaskLink id={task.id} />
            {task.priority !== 'normal' && <span class="second">{task.priority} priority</span>}
          </td>
          <td>
            <TaskState task={task} />
          </td>
          <td data-label="Submitted">
            <Distance at={task.submittedAt} />
          </td>
          <td class="number" data-label="Attempt" title={countsText(task)}>
            {attemptOf(task)}
          </td>
          <td>
            <Present task={task} nameOf={nameOf} />
          </td>
        </tr>
      ))}
    </PlainTable>
  );
}

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
