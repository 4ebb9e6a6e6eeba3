import { shortId } from '../../lists/texts.js';
import type { NodeTasks } from '../api/answers.js';
import { useState } from 'preact/hooks';
import { type Action, ActionDialog } from '../forms/action-dialog.js';
import { Badge } from '../parts/badge.js';
import { count, digits } from '../parts/format.js';
import { Empty } from '../parts/page-state.js';
import { signIn, whyNot } from '../live/session.js';
import { switchAction } from './switch-action.js';
import { type NodeOfType, type TypeOverview, nodesOf, obstacleSentence } from './task-types.js';

interface TypeNodesProps {
  readonly of: TypeOverview;
  readonly onChange: () => Promise<void>;
}

/** The nodes that handle a type, with their work. The answering node can be switched off and on. */
export function TypeNodesPanel({ of, onChange }: TypeNodesProps) {
  const [action, setAction] = useState<Action>();
  const nodes = nodesOf(of);
  return (
    <section class="panel" aria-labelledby="type-nodes-title">
      <h2 id="type-nodes-title">
        Nodes <span class="second number">{count(nodes.length, 'node')}</span>
      </h2>
      {nodes.length === 0 && <Empty>No living node handles this type. Programs may claim its tasks over HTTP.</Empty>}
      <ul class="holders" aria-label="Nodes of this type">
        {nodes.map((each) => (
          <li key={each.node.instance}>
            <NodeWork of={each} />
            {isAnswering(each) && whyNot('operate') === undefined && (
              <button
                type="button"
                class="small"
                aria-label={`Switch ${isOff(each) ? 'on' : 'off'} on ${each.node.acquirer}`}
                onClick={() => setAction(() => switchAction(of.type, each, onChange))}
              >
                Switch {isOff(each) ? 'on' : 'off'}…
              </button>
            )}
          </li>
        ))}
      </ul>
      {nodes.length > 1 && whyNot('operate') === undefined && (
        <p class="second">
          Only the answering node can be switched. To keep other nodes away from the type, edit the patterns of its
          limit.
        </p>
      )}
      {action && <ActionDialog action={action} onClose={() => setAction(undefined)} />}
    </section>
  );
}

function isAnswering({ node }: NodeOfType): boolean {
  return signIn.value.state === 'in' && signIn.value.session.node.instance === node.instance;
}

function isOff({ tasks, groups }: NodeOfType): boolean {
  return [tasks, groups].some((work) => work?.obstacle === 'paused-here');
}

function NodeWork({ of: { node, tasks, groups } }: { readonly of: NodeOfType }) {
  const obstacles = new Set([tasks?.obstacle, groups?.obstacle].filter((each) => each !== undefined));
  return (
    <span class="who-holds">
      <strong>{node.acquirer}</strong> {obstacles.has('paused-here') && <Badge tone="warning">off</Badge>}
      <span class="second">
        {node.group} · {shortId(node.instance)}
      </span>
      {tasks && <span class="second number">{workText(tasks)}</span>}
      {groups && <span class="second number">groups: {workText(groups)}</span>}
      {[...obstacles].map((obstacle) => (
        <span key={obstacle} class="second attention">
          {obstacleSentence(obstacle)}
        </span>
      ))}
    </span>
  );
}

function workText({ running, concurrency, completed, failed }: NodeTasks): string {
  const ended = `${digits(completed)} completed, ${digits(failed)} failed in the last minute`;
  return `${running} of ${concurrency} running · ${ended}`;
}
