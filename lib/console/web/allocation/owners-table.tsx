import { OWNER_COLUMNS, notGivenBack } from '../../lists/allocation.js';
import { type Columns, pick, withoutValue } from '../../lists/column.js';
import type { GroupAnswer } from '../api/answers.js';
import type { Action } from '../forms/action-dialog.js';
import { Badge } from '../parts/badge.js';
import { PlainTable } from '../parts/plain-table.js';
import { whyNot } from '../live/session.js';
import { pinAction, unpinAction } from './allocation-actions.js';

type Resource = GroupAnswer['resources'][number];

/** Maximum number of rows. The others are counted; the search finds them. */
const MOST_ROWS = 300;
/** Maximum number of columns of nodes. With more nodes, the table names the owner instead. */
const MOST_COLUMNS = 8;

const COLUMNS: Columns<Resource> = { ...pick(OWNER_COLUMNS, ['resource', 'owner']), pin: withoutValue('Pin') };

interface OwnersTableProps {
  readonly group: GroupAnswer;
  readonly resources: readonly Resource[];
  readonly onAction: (action: Action) => void;
  readonly done: () => Promise<void>;
}

/** Nodes by resources. Resources without an owner come first, in red. */
export function OwnersTable({ group, resources, onAction, done }: OwnersTableProps) {
  const nodes = group.nodes.length <= MOST_COLUMNS ? [...new Set(group.nodes.map(({ node }) => node))] : [];
  const byNode = <T,>(of: (node: string) => T) => Object.fromEntries(nodes.map((node) => [`of ${node}`, of(node)]));
  const excluded = exclusions(group);
  return (
    <>
      <PlainTable
        label="Owners"
        columns={{ ...COLUMNS, ...byNode(withoutValue) }}
        rows={resources.slice(0, MOST_ROWS)}
        keyOf={({ id }) => id}
        rowClass={({ node }) => (node === undefined ? 'gap-row' : '')}
        cells={{
          resource: { show: ({ id }) => <code>{id}</code> },
          owner: { show: (resource) => <Owner resource={resource} />, isNamed: true },
          pin: { show: (resource) => <Pin group={group} resource={resource} onAction={onAction} done={done} /> },
          ...byNode((node) => ({
            show: (resource: Resource) => <Cell resource={resource} node={node} excluded={excluded} />,
          })),
        }}
      />
      <p class="mark-legend">
        <span>
          <span class="mark owns" aria-hidden="true" /> owns
        </span>
        <span>
          <span class="mark may" aria-hidden="true" /> may own
        </span>
        <span>
          <span class="mark excluded" aria-hidden="true" /> excluded: drained, weight 0, or the resource is pinned
          elsewhere
        </span>
      </p>
      {resources.length > MOST_ROWS && <p class="second">and {resources.length - MOST_ROWS} more: search for them</p>}
    </>
  );
}

function Owner({ resource: { node, token, from } }: { readonly resource: Resource }) {
  return (
    <>
      {node === undefined ? <strong>no owner</strong> : <span title={`token ${token}`}>{node}</span>}
      {from !== undefined && <span class="second">{notGivenBack(from)}</span>}
    </>
  );
}

/** Node -> why it can't own any resource; undefined: it can. One of several processes with one name is enough. */
function exclusions({ nodes }: GroupAnswer): Map<string | undefined, string | undefined> {
  const able = new Set(nodes.flatMap(({ node, excluded }) => (excluded === undefined ? node : [])));
  return new Map(nodes.map(({ node, excluded }) => [node, able.has(node) ? undefined : excluded]));
}

interface CellProps {
  readonly resource: Resource;
  readonly node: string;
  /** Node -> why it can't own any resource. */
  readonly excluded: ReadonlyMap<string | undefined, string | undefined>;
}

/** The text is for screen readers; the colour alone would say nothing to them. */
function Cell({ resource: { id, node: owner, token, from, pinnedTo }, node, excluded }: CellProps) {
  const pin = pinnedTo === node ? ', pinned here' : '';
  if (owner === node)
    return <Mark kind="owns" title={`${node} owns ${id}, token ${token}${pin}`} text={`owns it${pin}`} />;
  if (from === node)
    return <Mark kind="owns leaving" title={`${node} has not given ${id} back yet`} text="gives it back" />;
  const why = excluded.get(node) ?? pinnedElsewhere(pinnedTo, node, excluded);
  if (why !== undefined)
    return <Mark kind="excluded" title={`${node} can’t own ${id}: ${why}`} text={`excluded: ${why}${pin}`} />;
  return <Mark kind="may" title={`${node} may own ${id}${pin}`} text={`may own it${pin}`} />;
}

/** A pin to a node that is not there, or can't own anything, has no effect. */
function pinnedElsewhere(
  pinnedTo: string | undefined,
  node: string,
  excluded: CellProps['excluded'],
): string | undefined {
  const isInForce = pinnedTo !== node && excluded.has(pinnedTo) && excluded.get(pinnedTo) === undefined;
  return isInForce ? `it is pinned to ${pinnedTo}` : undefined;
}

function Mark({ kind, title, text }: { readonly kind: string; readonly title: string; readonly text: string }) {
  return (
    <span class={`mark ${kind}`} title={title}>
      <span class="visually-hidden">{text}</span>
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
