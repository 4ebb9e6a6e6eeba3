import type { TaskView } from '../api/answers.js';
import { Fact } from '../parts/fact.js';
import { DateTime } from '../parts/time.js';
import { TaskLink, TypeLink, groupHref } from '../parts/task-links.js';
import { attemptOf } from './task-state.js';

interface TaskFactsProps {
  readonly task: TaskView;
  readonly nameOf: (instance: string) => string;
}

/** The fields of a task, with links to the others that it belongs to. */
export function TaskFacts({ task, nameOf }: TaskFactsProps) {
  const { type, group, parent, priority, attempts, maxAttempts, crashes, maxCrashes, token, lease, queue, next } = task;
  const { to, fairKey } = task;
  return (
    <section class="panel" aria-labelledby="facts-title">
      <h2 id="facts-title">Task</h2>
      <dl class="definition facts">
        <Fact name="Type">
          <TypeLink type={type} />
        </Fact>
        <Fact name="Priority">{priority}</Fact>
        {group && (
          <Fact name="Group">
            <a class="name" href={groupHref({ type, group: groupIn(task.id) })}>
              {group.name}
            </a>
            <span class="second">
              {group.number === undefined ? 'the handler of the group' : `number ${group.number}`}
            </span>
          </Fact>
        )}
        {parent !== undefined && (
          <Fact name="Sub-task of">
            <TaskLink id={parent} />
          </Fact>
        )}
        <Fact name="Failed attempts">
          {attempts} of {maxAttempts}
        </Fact>
        <Fact name="Crashes">
          {crashes} of {maxCrashes}
        </Fact>
        {lease && (
          <Fact name="Runs on">
            {nameOf(lease.instance)}
            <span class="second">
              attempt {attemptOf(task)}, {lease.instance}
            </span>
          </Fact>
        )}
        <Fact name="Fencing token">
          <span class="number">{token === 0 ? 'none yet' : token}</span>
        </Fact>
        {queue !== undefined && <Fact name="Serial queue">{queue}</Fact>}
        <Target to={to} />
        {fairKey !== undefined && <Fact name="Fair key">{fairKey}</Fact>}
        <After task={task} />
        {task.subTasks && (
          <Fact name="Sub-tasks">
            {task.subTasks.total} <span class="second">{task.subTasks.failed} did not complete</span>
          </Fact>
        )}
        {next && (
          <Fact name="Submitted again">
            It begins anew when it has ended
            {next.runAt !== undefined && (
              <>
                , at <DateTime at={next.runAt} />
              </>
            )}
          </Fact>
        )}
      </dl>
    </section>
  );
}

function After({ task: { after = [] } }: Pick<TaskFactsProps, 'task'>) {
  if (after.length === 0) return null;
  return (
    <Fact name="Waits for the end of">
      <ul>
        {after.map((id) => (
          <li key={id}>
            <TaskLink id={id} />
          </li>
        ))}
      </ul>
    </Fact>
  );
}

/** The nodes that may run it. All of what is given must match. */
function Target({ to }: Pick<TaskView, 'to'>) {
  if (!to) return null;
  const parts = Object.entries(to).map(([field, value]) => `${field} ${value}`);
  return (
    <Fact name="Only for">
      {parts.map((part) => (
        <code key={part}>{part} </code>
      ))}
    </Fact>
  );
}

/** Name of the group of a member, as it stands in its id. */
function groupIn(id: string): string {
  return id.slice(id.indexOf('[') + 1, id.lastIndexOf(']'));
}
