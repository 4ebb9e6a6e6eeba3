import { PLAN_COLUMNS } from '../../lists/allocation.js';
import type { PlanAnswer } from '../api/answers.js';
import { count } from '../parts/format.js';
import { PlainTable } from '../parts/plain-table.js';

/** Number of moves that are listed one by one. */
const MOST_SHOWN = 20;

interface PlanPanelProps {
  /** Name of the node that goes. */
  readonly lost: string;
  readonly plan: PlanAnswer;
  readonly onClose: () => void;
}

/** Shows which resources would move if a node went. */
export function PlanPanel({ lost, plan: { total, homeless, moves, shares, sentences }, onClose }: PlanPanelProps) {
  return (
    <div class="plan" role="status">
      <h3>
        If {lost} goes:{' '}
        {total === 0 ? 'nothing moves' : `${count(total, 'resource')} ${total === 1 ? 'moves' : 'move'}`}
      </h3>
      {homeless > 0 && (
        <p class="bad-text">{count(homeless, 'resource')} would have no owner: no other node may own them.</p>
      )}
      <ul class="changes">
        {sentences.map((sentence) => (
          <li key={sentence}>{sentence}</li>
        ))}
      </ul>
      <PlainTable
        label="Shares"
        columns={PLAN_COLUMNS}
        rows={shares}
        keyOf={({ id }) => id}
        cells={{ before: { isNamed: true }, after: { isNamed: true } }}
      />
      {moves.length > 0 && moves.length <= MOST_SHOWN && (
        <p class="second">{moves.map(({ resource, to = 'no node' }) => `${resource} to ${to}`).join(', ')}</p>
      )}
      <div class="buttons">
        <button type="button" onClick={onClose}>
          Close
        </button>
      </div>
    </div>
  );
}
