import { Empty } from '../parts/page-state.js';
import { TaskPages, emptyPage } from './task-pages.js';
import { TaskTable } from './task-table.js';
import { useNodeNames } from './use-node-names.js';

/** The tasks of all types that run now, by the end of their leases. */
export function RunningPage() {
  const nameOf = useNodeNames();
  return (
    <TaskPages state="running">
      {({ tasks, next }) =>
        tasks.length > 0 ? (
          <section class="panel filling" aria-label="Running tasks">
            <TaskTable tasks={tasks} nameOf={nameOf} />
          </section>
        ) : (
          <Empty>{emptyPage({ next }, 'No task runs now.')}</Empty>
        )
      }
    </TaskPages>
  );
}
