import type { ListedState, TaskView, TasksAnswer } from '../api/answers.js';
import { FilterButtons } from '../parts/filter-buttons.js';
import { Empty } from '../parts/page-state.js';
import { changeQuery, hrefOf, route } from '../parts/router.js';
import { AttemptTable, attemptsOf, endOf } from './attempt-table.js';
import { TaskPages, emptyPage } from './task-pages.js';
import { TaskTable } from './task-table.js';
import { useNodeNames } from './use-node-names.js';

interface Shown {
  readonly label: string;
  /** Sentence about the list. */
  readonly lead: string;
  readonly state: ListedState;
  readonly none: string;
}

const SHOWN = {
  running: {
    label: 'Running',
    lead: 'The tasks of all types that run now, by the end of their leases.',
    state: 'running',
    none: 'No task runs now.',
  },
  failed: {
    label: 'Failed, tried again',
    lead: 'Attempts that failed or crashed, of tasks that wait for their next attempt. Of each task, the last 5 are kept.',
    state: 'delayed',
    none: 'No task waits for another attempt after a failed one.',
  },
  'given-up': {
    label: 'Given up',
    lead: 'Tasks that get no further attempt, with their last attempts.',
    state: 'dead',
    none: 'No task was given up.',
  },
} as const satisfies Record<string, Shown>;
type Show = keyof typeof SHOWN;

/** The attempts of tasks of all types: those that run, those that failed, and the tasks that were given up. */
export function TaskRunsPage() {
  const asked = route.value.query.get('show');
  const show = (Object.keys(SHOWN) as Show[]).find((each) => each === asked) ?? 'running';
  const { lead, state, none } = SHOWN[show];
  return (
    <>
      <p class="lead">
        {lead} {show === 'given-up' && <a href={hrefOf(['operate', 'dead-letters'])}>Requeue them</a>}
      </p>
      <div class="toolbar">
        <FilterButtons
          label="Show"
          options={(Object.keys(SHOWN) as Show[]).map((value) => ({ value, label: SHOWN[value].label }))}
          chosen={show}
          onChoose={(value) => changeQuery({ show: value, from: undefined })}
        />
      </div>
      <TaskPages state={state}>
        {(answer) => <Runs answer={answer} show={show} none={emptyPage(answer, none)} />}
      </TaskPages>
    </>
  );
}

interface RunsProps {
  readonly answer: TasksAnswer;
  readonly show: Show;
  /** Says that there are none. */
  readonly none: string;
}

function Runs({ answer: { tasks }, show, none }: RunsProps) {
  const nameOf = useNodeNames();
  const attempts = show === 'running' ? [] : tasks.flatMap(show === 'failed' ? attemptsOf : storyOf);
  if (tasks.length === 0 || (show === 'failed' && attempts.length === 0)) return <Empty>{none}</Empty>;
  return (
    <section class="panel filling" aria-label={`${SHOWN[show].label} tasks`}>
      {show === 'running' ? (
        <TaskTable tasks={tasks} nameOf={nameOf} />
      ) : (
        <AttemptTable attempts={attempts} nameOf={nameOf} />
      )}
    </section>
  );
}

function storyOf(task: TaskView) {
  return [...endOf(task), ...attemptsOf(task)];
}
