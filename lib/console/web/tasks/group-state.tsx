import type { TaskGroupOverview } from '../api/answers.js';
import { Badge, type Tone } from '../parts/badge.js';
import { digits } from '../parts/format.js';

const STATES: Record<TaskGroupOverview['state'], readonly [Tone, string, string]> = {
  open: ['accent', 'open', 'Members may still end'],
  joining: ['accent', 'handler', 'All members have ended; the handler of the group is to run'],
  closed: ['good', 'closed', 'The handler of the group has run'],
};

/** Shows the state of a group. */
export function GroupState({ group: { state, stopped } }: { readonly group: TaskGroupOverview }) {
  const [tone, word, title] = STATES[state];
  return (
    <span class="badges">
      <Badge tone={tone} title={title}>
        {word}
      </Badge>
      {stopped && (
        <Badge tone="warning" title={`${stopped.by}: ${stopped.reason ?? 'no reason was given'}`}>
          stopped
        </Badge>
      )}
    </span>
  );
}

/** How many members of a group have ended. */
export function GroupCounts({ group: { total, ended, failed } }: { readonly group: TaskGroupOverview }) {
  const text = `${digits(ended)} of ${total === undefined ? 'an unknown number' : digits(total)} ended`;
  return (
    <span class="task-progress">
      {total !== undefined && <progress aria-label={text} max={Math.max(1, total)} value={ended} />}
      <span class="number">{text}</span>
      {failed > 0 && <span class="second bad-text">{digits(failed)} did not complete</span>}
    </span>
  );
}
