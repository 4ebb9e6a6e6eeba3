import type { ListedState, NodeWork } from '../api/answers.js';
import { FilterButtons } from '../parts/filter-buttons.js';
import { Empty } from '../parts/page-state.js';
import { changeQuery, hrefOf, route } from '../parts/router.js';
import { TaskPages, emptyPage } from './task-pages.js';
import { TaskTable } from './task-table.js';
import { namesOf } from './use-node-names.js';

const LISTS = {
  waiting: 'Waiting',
  running: 'Running',
  delayed: 'Delayed',
  blocked: 'Blocked',
  awaiting: 'Await sub-tasks',
  dead: 'Dead letters',
} as const satisfies Record<ListedState, string>;
const STATES = Object.keys(LISTS) as ListedState[];

/** The tasks of a type, by state. */
export function TypeLists({ type, nodes }: { readonly type: string; readonly nodes: readonly NodeWork[] }) {
  const asked = route.value.query.get('state');
  const state = STATES.find((each) => each === asked) ?? 'running';
  const nameOf = namesOf(nodes);
  return (
    <section class="panel task-lists" aria-labelledby="tasks-title">
      <h2 id="tasks-title">Tasks</h2>
      <FilterButtons
        label="State of the tasks"
        options={STATES.map((value) => ({ value, label: LISTS[value] }))}
        chosen={state}
        onChoose={(value) => changeQuery({ state: value, from: undefined })}
      />
      {state === 'dead' && (
        <p class="second">
          <a href={hrefOf(['operate', 'dead-letters'], { type })}>Requeue many of them</a>
        </p>
      )}
      <TaskPages state={state} type={type}>
        {({ tasks, next }) =>
          tasks.length > 0 ? (
            <TaskTable tasks={tasks} nameOf={nameOf} />
          ) : (
            <Empty>{emptyPage({ next }, 'There are none.')}</Empty>
          )
        }
      </TaskPages>
    </section>
  );
}
