import type { GroupAnswer } from '../api/answers.js';
import type { Action } from '../forms/action-dialog.js';
import { Badge } from '../parts/badge.js';
import { PlainTable } from '../parts/plain-table.js';
import { whyNot } from '../session.js';
import { pinAction, unpinAction } from './allocation-actions.js';

type Resource = GroupAnswer['resources'][number];

/** Maximum number of rows. The others are counted; the search finds them. */
const MOST_ROWS = 300;
/** Maximum number of columns of nodes. With more nodes, the table names the owner instead. */
const MOST_COLUMNS = 12;

interface OwnersTableProps {
  readonly group: GroupAnswer;
  readonly resources: readonly Resource[];
  readonly onAction: (action: Action) => void;
  readonly done: () => Promise<void>;
}

/** Nodes by resources. Resources without an owner come first, in red. */
export function OwnersTable({ group, resources, onAction, done }: OwnersTableProps) {
  const nodes = group.nodes.length <= MOST_COLUMNS ? [...new Set(group.nodes.map(({ node }) => node))] : [];
  return (
    <>
      <PlainTable label="Owners" columns={['Resource', 'Owner', ...nodes, 'Pin']}>
        {resources.slice(0, MOST_ROWS).map((resource) => (
          <tr key={resource.id} class={resource.node === undefined ? 'gap-row' : ''}>
            <td>
              <code>{resource.id}</code>
            </td>
            <td>
              <Owner resource={resource} />
            </td>
            {nodes.map((node) => (
              <td key={node}>
                <Cell resource={resource} node={node} />
              </td>
            ))}
            <td>
              <Pin group={group} resource={resource} onAction={onAction} done={done} />
            </td>
          </tr>
        ))}
      </PlainTable>
      {resources.length > MOST_ROWS && <p class="second">and {resources.length - MOST_ROWS} more: search for them</p>}
    </>
  );
}

function Owner({ resource: { node, token, from } }: { readonly resource: Resource }) {
  return (
    <>
      {node === undefined ? <strong>no owner</strong> : <span title={`token ${token}`}>{node}</span>}
      {from !== undefined && <span class="second">{from} has not given it back yet</span>}
    </>
  );
}

/** The text is for screen readers; the colour alone would say nothing to them. */
function Cell({ resource, node }: { readonly resource: Resource; readonly node: string }) {
  if (resource.node === node) {
    return (
      <span class="owns" title={`${node} owns ${resource.id}, token ${resource.token}`}>
        <span class="visually-hidden">owns it</span>
      </span>
    );
  }
  if (resource.from !== node) return null;
  return (
    <span class="owns leaving" title={`${node} has not given ${resource.id} back yet`}>
      <span class="visually-hidden">gives it back</span>
    </span>
  );
}

function Pin({
  group,
  resource,
  onAction,
  done,
}: Omit<OwnersTableProps, 'resources'> & { readonly resource: Resource }) {
  const { id, pinnedTo } = resource;
  const mayOperate = whyNot('operate') === undefined;
  return (
    <span class="badges">
      {pinnedTo !== undefined && <Badge tone="neutral">pinned to {pinnedTo}</Badge>}
      {mayOperate && pinnedTo === undefined && (
        <button
          type="button"
          class="small"
          aria-label={`Pin ${id}`}
          onClick={() => onAction(pinAction(group, resource, done))}
        >
          Pin…
        </button>
      )}
      {mayOperate && pinnedTo !== undefined && (
        <button
          type="button"
          class="small"
          aria-label={`Unpin ${id}`}
          onClick={() => onAction(unpinAction(group, id, done))}
        >
          Unpin
        </button>
      )}
    </span>
  );
}
