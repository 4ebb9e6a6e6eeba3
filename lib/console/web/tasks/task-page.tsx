import { useState } from 'preact/hooks';
import type { TaskAnswer, TaskView } from '../api/answers.js';
import { pathOf } from '../api/call.js';
import { type Action, ActionDialog } from '../forms/action-dialog.js';
import { anyChange, anyChangeOrRun } from '../live/concerns.js';
import { SELDOM } from '../live/live-query.js';
import { useLive } from '../live/use-live.js';
import { Icon } from '../parts/icon.js';
import { Loaded } from '../parts/page-state.js';
import { whyNot } from '../live/session.js';
import { canCancel, cancelAction, canRetry, retryAction } from './task-actions.js';
import { TaskFacts } from './task-facts.js';
import { typeHref } from '../parts/task-links.js';
import { TaskProgressBar, TaskState } from './task-state.js';
import { TaskStory } from './task-story-panel.js';
import { SubTasks } from './task-tree.js';
import { TaskValues } from './task-values.js';
import { useNodeNames } from './use-node-names.js';

/** The whole story of one task. */
export function TaskPage({ id }: { readonly id: string }) {
  const query = useLive(pathOf('task', { params: { id } }), anyChange);
  const type = typeOf(id);
  const audit = useLive(pathOf('audit', { query: { semaphore: `task:${type}` } }), anyChangeOrRun, SELDOM);
  const nameOf = useNodeNames();
  const reload = async () => void (await Promise.all([query.load(), audit.load()]));
  return (
    <>
      <a class="back" href={typeHref(type)}>
        <Icon name="back" /> Tasks of type {type}
      </a>
      <Loaded query={query}>
        {(details) => (
          <>
            <Summary details={details} onChange={reload} />
            <div class="columns">
              <TaskStory task={details.task} audit={audit} nameOf={nameOf} />
              <TaskFacts task={details.task} nameOf={nameOf} />
            </div>
            {details.task.split && (
              <section class="panel" aria-labelledby="sub-tasks-title">
                <h2 id="sub-tasks-title">Sub-tasks</h2>
                <SubTasks id={id} nameOf={nameOf} />
              </section>
            )}
            <TaskValues task={details.task} />
          </>
        )}
      </Loaded>
    </>
  );
}

/** A type has neither a colon nor a bracket. */
function typeOf(id: string): string {
  return id.slice(0, Math.max(0, id.search(/[:[]/)));
}

interface SummaryProps {
  readonly details: TaskAnswer;
  readonly onChange: () => Promise<void>;
}

/** The state, why it does not run or where it runs, and the actions. */
function Summary({ details: { task, explanation }, onChange }: SummaryProps) {
  const { progress, lease } = task;
  return (
    <section class="summary" aria-label="State">
      <TaskState task={task} />
      <p class="explanation">{sentence(explanation.sentence)}</p>
      {progress && lease && <TaskProgressBar progress={progress} />}
      <Actions task={task} onChange={onChange} />
    </section>
  );
}

function Actions({ task, onChange }: { readonly task: TaskView; readonly onChange: () => Promise<void> }) {
  const [action, setAction] = useState<Action>();
  if (whyNot('operate') !== undefined) return null;
  return (
    <div class="buttons actions">
      {canRetry(task) && (
        <button type="button" onClick={() => setAction(() => retryAction(task, onChange))}>
          <Icon name="play" /> Retry…
        </button>
      )}
      {canCancel(task) && (
        <button type="button" class="danger" onClick={() => setAction(() => cancelAction(task, onChange))}>
          <Icon name="remove" /> Cancel…
        </button>
      )}
      {action && <ActionDialog action={action} onClose={() => setAction(undefined)} />}
    </div>
  );
}

/** With a capital letter and a full stop. */
function sentence(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}.`;
}
