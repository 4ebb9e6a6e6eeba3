import { useState } from 'preact/hooks';
import { shortId } from '../../lists/texts.js';
import type { LeaderAnswer, ScopeCandidate } from '../api/answers.js';
import { type Action, ActionDialog } from '../forms/action-dialog.js';
import { count } from '../parts/format.js';
import { Empty } from '../parts/page-state.js';
import { whyNot } from '../live/session.js';
import { canTakeOver, transferAction } from './leader-actions.js';

interface CandidatesPanelProps {
  readonly details: LeaderAnswer;
  readonly onChange: () => Promise<void>;
}

/** Lists the living nodes: which one leads, and why each other one does not. */
export function CandidatesPanel({ details, onChange }: CandidatesPanelProps) {
  const [action, setAction] = useState<Action>();
  const { candidates, scope, problems } = details;
  return (
    <section class="panel" aria-labelledby="candidates-title">
      <h2 id="candidates-title">
        Nodes <span class="second number">{count(scope.candidates, 'node')} could lead</span>
      </h2>
      {candidates.length === 0 && <Empty>No living node takes part in leadership.</Empty>}
      <ul class="holders candidates" aria-label="Nodes of this scope">
        {inOrder(candidates).map((candidate) => (
          <li key={candidate.instance} class={candidate.reason === undefined ? 'leading' : ''}>
            <Name candidate={candidate} />
            {canTakeOver(candidate) && whyNot('operate') === undefined && (
              <button
                type="button"
                class="small"
                aria-label={`Transfer to ${candidate.acquirer}`}
                onClick={() => setAction(() => transferAction(details, candidate, onChange))}
              >
                Transfer…
              </button>
            )}
          </li>
        ))}
      </ul>
      {problems.map((problem) => (
        <p class="attention" key={problem}>
          {problem}
        </p>
      ))}
      {action && <ActionDialog action={action} onClose={() => setAction(undefined)} />}
    </section>
  );
}

/** The leader, then the nodes that could take over, then the others. */
function inOrder(candidates: readonly ScopeCandidate[]): ScopeCandidate[] {
  const rank = (candidate: ScopeCandidate) => (candidate.reason === undefined ? 0 : canTakeOver(candidate) ? 1 : 2);
  return candidates.toSorted((one, other) => rank(one) - rank(other));
}

function Name({ candidate: { acquirer, group, instance, reason, sentence } }: { readonly candidate: ScopeCandidate }) {
  return (
    <span class="who-holds">
      <strong>{acquirer}</strong>
      <span class="second">
        {group} · {shortId(instance)}
      </span>
      <span class={reason === undefined ? 'leads' : 'second'}>{sentence}</span>
    </span>
  );
}
