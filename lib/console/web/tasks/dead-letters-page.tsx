import { useState } from 'preact/hooks';
import { type Columns, withoutValue } from '../../lists/column.js';
import { TASK_COLUMNS, countsText } from '../../lists/tasks.js';
import type { TaskView } from '../api/answers.js';
import { BatchProgress } from '../batches/batch-progress.js';
import { announceProgress, useBatches } from '../batches/use-batches.js';
import { type Action, ActionDialog } from '../forms/action-dialog.js';
import { Excerpt } from '../parts/excerpt.js';
import { count } from '../parts/format.js';
import { Icon } from '../parts/icon.js';
import { Empty } from '../parts/page-state.js';
import { type Cells, PlainTable } from '../parts/plain-table.js';
import { Search } from '../parts/search.js';
import { Distance } from '../parts/time.js';
import { changeQuery, route } from '../parts/router.js';
import { whyNot } from '../live/session.js';
import { TaskLink } from '../parts/task-links.js';
import { TaskPages, emptyPage } from './task-pages.js';
import { TaskState } from './task-state.js';
import { requeueAction, requeueNext } from './requeue-many.js';

/** Tasks that ended without success, and their requeue: one, or many. */
export function DeadLettersPage() {
  const type = route.value.query.get('type') ?? '';
  const [typed, setTyped] = useState(type);
  const chosen = /^[\w.-]{1,64}$/.test(type) ? type : undefined;
  return (
    <>
      <p class="lead">
        Tasks that failed for good, crashed too often, were invalid, or were cancelled. They are kept until their time
        is over.
      </p>
      <form
        class="toolbar"
        onSubmit={(event) => {
          event.preventDefault();
          changeQuery({ type: typed.trim() || undefined, from: undefined });
        }}
      >
        <Search landmark="Dead letters" label="Type of tasks" value={typed} onValue={setTyped} />
        <button type="submit">Show</button>
      </form>
      <TaskPages state="dead" type={chosen}>
        {({ tasks, next }, query) => (
          <Letters key={query.path} tasks={tasks} next={next} type={chosen} done={() => query.load()} />
        )}
      </TaskPages>
    </>
  );
}

interface LettersProps {
  readonly tasks: readonly TaskView[];
  readonly next: string | undefined;
  readonly type: string | undefined;
  readonly done: () => Promise<void>;
}

function Letters({ tasks, next, type, done }: LettersProps) {
  const [picked, setPicked] = useState<ReadonlySet<string>>(new Set());
  const [action, setAction] = useState<Action>();
  const { progress, run, stop } = useBatches();
  const notAllowed = whyNot('operate');
  const ids = tasks.map(({ id }) => id).filter((id) => picked.has(id));
  const start = async (chosen: readonly string[], reason: string | undefined) => {
    const ended = await run(requeueNext(chosen, reason));
    announceProgress(ended, 'requeued', 'task');
    setPicked(new Set());
    await done();
  };
  const ask = (chosen: readonly string[]) =>
    setAction(() => requeueAction(chosen, (reason) => void start(chosen, reason)));
  const none = type === undefined ? 'There are no dead letters.' : `There are no dead letters of type ${type}.`;
  return (
    <>
      {notAllowed === undefined && tasks.length > 0 && (
        <div class="buttons">
          <button type="button" disabled={ids.length === 0 || progress?.isRunning} onClick={() => ask(ids)}>
            <Icon name="play" />{' '}
            {ids.length === 0 ? 'Requeue the chosen tasks…' : `Requeue ${count(ids.length, 'chosen task')}…`}
          </button>
          <button type="button" disabled={progress?.isRunning} onClick={() => ask(tasks.map(({ id }) => id))}>
            <Icon name="play" /> Requeue all {tasks.length} of this page…
          </button>
        </div>
      )}
      {progress && <BatchProgress progress={progress} verb="requeued" one="task" onStop={stop} />}
      {tasks.length === 0 && <Empty>{emptyPage({ next }, none)}</Empty>}
      {tasks.length > 0 && (
        <section class="panel filling" aria-label="Dead letters">
          <LetterTable
            tasks={tasks}
            picked={picked}
            onPick={notAllowed === undefined ? setPicked : undefined}
            onRequeue={(id) => ask([id])}
          />
        </section>
      )}
      {action && <ActionDialog action={action} onClose={() => setAction(undefined)} />}
    </>
  );
}

interface LetterTableProps {
  readonly tasks: readonly TaskView[];
  readonly picked: ReadonlySet<string>;
  /** Absent: the user may not requeue. */
  readonly onPick: ((picked: ReadonlySet<string>) => void) | undefined;
  readonly onRequeue: (id: string) => void;
}

function LetterTable({ tasks, picked, onPick, onRequeue }: LetterTableProps) {
  const pick = (id: string, isPicked: boolean) =>
    onPick?.(new Set(isPicked ? [...picked, id] : [...picked].filter((each) => each !== id)));
  return (
    <PlainTable
      label="Dead letters"
      columns={onPick ? { choose: withoutValue('Choose'), ...COLUMNS, requeue: withoutValue('Requeue') } : COLUMNS}
      rows={tasks}
      keyOf={({ id }) => id}
      cells={{
        ...CELLS,
        choose: {
          show: ({ id }) => (
            <input
              type="checkbox"
              aria-label={`Choose ${id}`}
              checked={picked.has(id)}
              onChange={(event) => pick(id, event.currentTarget.checked)}
            />
          ),
        },
        requeue: {
          show: ({ id }) => (
            <button type="button" class="small" aria-label={`Requeue ${id}`} onClick={() => onRequeue(id)}>
              Requeue…
            </button>
          ),
        },
      }}
    />
  );
}

const COLUMNS: Columns<TaskView> = {
  task: TASK_COLUMNS.task,
  ended: { title: 'Ended', value: ({ endedAt }) => endedAt },
  attempts: { title: 'Attempts', value: countsText },
  error: { title: 'Error', value: ({ lastError }) => lastError?.message },
  kept: { title: 'Kept until', value: ({ keptUntil }) => keptUntil, kind: 'time' },
};

const CELLS: Cells<TaskView> = {
  task: {
    show: (task) => (
      <>
        <TaskLink id={task.id} />
        <TaskState task={task} />
      </>
    ),
  },
  ended: { show: ({ endedAt }) => endedAt !== undefined && <Distance at={endedAt} />, isNamed: true },
  error: { show: (task) => <Why task={task} />, class: 'detail' },
  kept: { class: 'number second', isNamed: true },
};

function Why({ task: { lastError, cancel } }: { readonly task: TaskView }) {
  return (
    <>
      {cancel && (
        <Excerpt>{`cancelled by ${cancel.by}${cancel.reason === undefined ? '' : `: “${cancel.reason}”`}`}</Excerpt>
      )}
      {lastError && (
        <span class={cancel ? 'second' : ''}>
          <Excerpt>{`${lastError.name}: ${lastError.message}`}</Excerpt>
        </span>
      )}
      {!cancel && !lastError && <span class="second">no error was noted</span>}
    </>
  );
}
