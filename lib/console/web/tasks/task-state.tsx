import type { TaskView } from '../api/answers.js';
import { Badge, type Tone } from '../parts/badge.js';
import { digits } from '../parts/format.js';

const STATES: Record<TaskView['state'], readonly [Tone, string]> = {
  waiting: ['neutral', 'It waits for a node with room'],
  delayed: ['neutral', 'It waits for its time'],
  blocked: ['neutral', 'It waits for the end of others'],
  running: ['accent', 'A node or a program works on it'],
  awaiting: ['accent', 'Its handler has ended; it waits for its sub-tasks'],
  completed: ['good', 'Its handler returned'],
  failed: ['bad', 'Its last attempt failed'],
  crashed: ['bad', 'Too many of its attempts ended without a word'],
  invalid: ['bad', 'Its handler said that no attempt can succeed'],
  cancelled: ['warning', 'A person, a program or a rule cancelled it'],
};

/** Shows the state of a task. */
export function TaskState({ task: { state, cancel } }: { readonly task: Pick<TaskView, 'state' | 'cancel'> }) {
  const [tone, title] = STATES[state];
  return (
    <span class="badges">
      <Badge tone={tone} title={title}>
        {state}
      </Badge>
      {cancel && state !== 'cancelled' && <Badge tone="warning">to be cancelled</Badge>}
    </span>
  );
}

/** Number of the attempt that runs, or would run next. */
export function attemptOf({ attempts, crashes }: Pick<TaskView, 'attempts' | 'crashes'>): number {
  return attempts + crashes + 1;
}

/** How far an attempt has come. */
export function TaskProgressBar({ progress }: { readonly progress: NonNullable<TaskView['progress']> }) {
  const { done, total, note } = progress;
  const text = `${digits(done)} of ${digits(total)}`;
  return (
    <span class="task-progress">
      <progress aria-label={`Progress: ${text}`} max={Math.max(total, 1)} value={Math.min(done, Math.max(total, 1))} />
      <span class="number">{text}</span>
      {note !== undefined && <span class="second">{note}</span>}
    </span>
  );
}
