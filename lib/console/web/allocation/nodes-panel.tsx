import { useState } from 'preact/hooks';
import type { GroupAnswer, PlanAnswer } from '../api/answers.js';
import type { Action } from '../forms/action-dialog.js';
import { sentenceOf } from '../forms/faults.js';
import { useSubmit } from '../forms/use-submit.js';
import { Badge } from '../parts/badge.js';
import { count } from '../parts/format.js';
import { Empty } from '../parts/page-state.js';
import { whyNot } from '../live/session.js';
import { drainAction, planOf, undrainAction } from './allocation-actions.js';
import { PlanPanel } from './plan-panel.js';

type GroupNode = GroupAnswer['nodes'][number];

interface NodesPanelProps {
  readonly group: GroupAnswer;
  readonly onAction: (action: Action) => void;
  readonly done: () => Promise<void>;
}

/** The nodes of a group with their shares, and what would happen if one went. */
export function NodesPanel({ group, onAction, done }: NodesPanelProps) {
  const [shown, setShown] = useState<{ readonly incarnation: string; readonly plan: PlanAnswer }>();
  const { attempt, error, isBusy } = useSubmit(() => Promise.resolve());
  const most = Math.max(1, ...group.nodes.map(({ owned }) => owned));
  const lose = ({ incarnation, node }: GroupNode) =>
    attempt(async () => setShown({ incarnation, plan: await planOf(group.name, { lose: [node] }) }));
  const drain = (node: GroupNode) => attempt(async () => onAction(await drainAction(group, node.node, done)));
  return (
    <section class="panel" aria-labelledby="allocation-nodes-title">
      <h2 id="allocation-nodes-title">
        Nodes <span class="second number">{count(group.nodes.length, 'node')}</span>
      </h2>
      {group.nodes.length === 0 && <Empty>No living node takes part in this group.</Empty>}
      <ul class="holders shares" aria-label="Nodes of this group">
        {group.nodes.map((node) => (
          <li key={node.incarnation}>
            <Share node={node} most={most} />
            <span class="buttons">
              <button
                type="button"
                class="small"
                disabled={isBusy}
                aria-label={`What if it goes? ${node.node}`}
                onClick={() => void lose(node)}
              >
                What if it goes?
              </button>
              {whyNot('operate') === undefined && (
                <button
                  type="button"
                  class="small"
                  disabled={isBusy}
                  aria-label={`${node.isDrained ? 'End the drain of' : 'Drain'} ${node.node}`}
                  onClick={() => (node.isDrained ? onAction(undrainAction(group, node.node, done)) : void drain(node))}
                >
                  {node.isDrained ? 'End the drain' : 'Drain…'}
                </button>
              )}
            </span>
            {shown?.incarnation === node.incarnation && (
              <PlanPanel lost={node.node} plan={shown.plan} onClose={() => setShown(undefined)} />
            )}
          </li>
        ))}
      </ul>
      <p class="fault" role="alert">
        {sentenceOf(error, [])}
      </p>
    </section>
  );
}

function Share({
  node: { node, owned, weight, isDrained, excluded },
  most,
}: {
  readonly node: GroupNode;
  readonly most: number;
}) {
  return (
    <span class="who-holds">
      <strong>{node}</strong> {isDrained && <Badge tone="warning">drained</Badge>}
      <span class="second">
        {count(owned, 'resource')}
        {weight !== 1 && ` · weight ${weight}`}
        {excluded !== undefined && ` · can’t own resources: ${excluded}`}
      </span>
      <span class="share-bar" aria-hidden="true">
        <span style={{ width: `${(100 * owned) / most}%` }} />
      </span>
    </span>
  );
}
