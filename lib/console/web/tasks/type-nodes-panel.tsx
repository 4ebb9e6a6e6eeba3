import type { NodeTasks } from '../api/answers.js';
import { Badge } from '../parts/badge.js';
import { count, shortId } from '../parts/format.js';
import { Empty } from '../parts/page-state.js';
import { type NodeOfType, type TypeOverview, nodesOf, obstacleSentence } from './task-types.js';

/** The nodes that handle a type, with their work. */
export function TypeNodesPanel({ of }: { readonly of: TypeOverview }) {
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
          </li>
        ))}
      </ul>
    </section>
  );
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
  const ended = `${completed.toLocaleString()} completed, ${failed.toLocaleString()} failed in the last minute`;
  return `${running} of ${concurrency} running · ${ended}`;
}
