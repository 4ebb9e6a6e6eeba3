import { useState } from 'preact/hooks';
import type { TaskView } from '../api/answers.js';
import { pathOf } from '../api/call.js';
import { anyChange } from '../live/concerns.js';
import { SELDOM } from '../live/live-query.js';
import { useLive } from '../live/use-live.js';
import { Icon } from '../parts/icon.js';
import { Empty, Loaded } from '../parts/page-state.js';
import { Distance } from '../parts/time.js';
import { GroupCounts, GroupState } from './group-state.js';
import { GroupLink, TaskLink } from '../parts/task-links.js';
import { TaskProgressBar, TaskState, attemptOf } from './task-state.js';

interface BranchProps {
  readonly task: TaskView;
  readonly nameOf: (instance: string) => string;
}

/** A task in a tree. Its sub-tasks are loaded when it is opened. */
export function TaskBranch({ task, nameOf }: BranchProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <li>
      <span class="branch">
        <TaskLink id={task.id} />
        <TaskState task={task} />
        <Present task={task} nameOf={nameOf} />
      </span>
      {task.split && (
        <details onToggle={(event) => setOpen(event.currentTarget.open)}>
          <summary>Sub-tasks</summary>
          {isOpen && <SubTasks id={task.id} nameOf={nameOf} />}
        </details>
      )}
    </li>
  );
}

function Present({ task, nameOf }: BranchProps) {
  const { lease, progress, lastError, endedAt } = task;
  return (
    <span class="second">
      {lease && `attempt ${attemptOf(task)} on ${nameOf(lease.instance)}`}
      {endedAt !== undefined && <Distance at={endedAt} />}
      {lastError && ` ${lastError.message}`}
      {lease && progress && <TaskProgressBar progress={progress} />}
    </span>
  );
}

/** Stands beside an id whose record the answering node can't read. */
export function Unreadable() {
  return (
    <span class="second attention">
      <Icon name="warning" /> can’t be read by this node: of a newer version, or corrupt
    </span>
  );
}

/** The sub-tasks of a task, page by page, with their own below them. */
export function SubTasks({ id, nameOf }: { readonly id: string; readonly nameOf: BranchProps['nameOf'] }) {
  const [page, setPage] = useState(1);
  const query = useLive(pathOf('subTasks', { params: { id }, query: { page } }), anyChange, SELDOM);
  return (
    <Loaded query={query}>
      {({ subTasks, next }) => (
        <>
          {subTasks.length === 0 && <Empty>Their list is not kept any more.</Empty>}
          <ul class="tree" aria-label={`Sub-tasks of ${id}`}>
            {subTasks.map(({ id: child, task, group, isUnreadable }) => {
              if (task) return <TaskBranch key={child} task={task} nameOf={nameOf} />;
              return (
                <li key={child}>
                  <span class="branch">
                    {group ? <GroupLink group={group} /> : <code>{child}</code>}
                    {group && <GroupState group={group} />}
                    {isUnreadable && <Unreadable />}
                    {!group && !isUnreadable && <span class="second">not submitted yet, or forgotten</span>}
                    {group && <GroupCounts group={group} />}
                  </span>
                </li>
              );
            })}
          </ul>
          {(page > 1 || next !== undefined) && (
            <p class="buttons">
              {page > 1 && (
                <button type="button" class="small" onClick={() => setPage(page - 1)}>
                  Former page
                </button>
              )}
              {next !== undefined && (
                <button type="button" class="small" onClick={() => setPage(next)}>
                  Next page
                </button>
              )}
            </p>
          )}
        </>
      )}
    </Loaded>
  );
}
