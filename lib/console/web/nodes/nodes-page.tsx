import type { NodeOverview, NodesAnswer, StalePart } from '../api/answers.js';
import { anyChange } from '../live/concerns.js';
import { useLive } from '../live/use-live.js';
import { Badge } from '../parts/badge.js';
import { hasWords } from '../parts/has-words.js';
import { shortId } from '../parts/format.js';
import { Empty, Loaded } from '../parts/page-state.js';
import { ResultCount } from '../parts/result-count.js';
import { StaleNotice, isUnknown } from '../parts/stale-notice.js';
import { Distance } from '../parts/time.js';
import { Search } from '../parts/search.js';
import { replaceQuery, route } from '../router.js';
import { NodeDetails } from './node-details.js';

/** ms. A larger offset of a node's clock is highlighted, although permits don't depend on it. */
const NOTABLE_OFFSET = 1000;

export function NodesPage() {
  const query = useLive<NodesAnswer>('nodes', anyChange);
  const search = route.value.query.get('search') ?? '';
  return (
    <>
      <p class="lead">The living processes of the application. Each publishes these data at every heartbeat.</p>
      <div class="toolbar">
        <Search
          label="Search group, name, host, version"
          value={search}
          onValue={(value) => replaceQuery({ search: value })}
        />
      </div>
      <Loaded query={query}>
        {({ nodes, stale }) => (
          <NodeTable
            stale={stale}
            nodes={nodes.filter((node) => hasWords([node.group, node.acquirer, node.host, node.version], search))}
            all={nodes.length}
          />
        )}
      </Loaded>
    </>
  );
}

interface NodeTableProps {
  readonly nodes: readonly NodeOverview[];
  readonly all: number;
  readonly stale: readonly StalePart[];
}

function NodeTable({ nodes, all, stale }: NodeTableProps) {
  return (
    <>
      <StaleNotice stale={stale} />
      <ResultCount shown={nodes.length} all={all} one="living node" />
      {nodes.length === 0 ? (
        <Empty>{all === 0 ? emptyReason(stale) : 'Nothing matches.'}</Empty>
      ) : (
        <table class="rows nodes" role="table" aria-label="Nodes">
          <thead role="rowgroup">
            <tr role="row">
              <th role="columnheader">Node</th>
              <th role="columnheader">Group</th>
              <th role="columnheader">Version</th>
              <th role="columnheader">Started</th>
              <th role="columnheader">Clock</th>
              <th role="columnheader">Holds and runs</th>
            </tr>
          </thead>
          <tbody role="rowgroup">
            {nodes.map((node) => (
              <Row key={node.instance} node={node} />
            ))}
          </tbody>
        </table>
      )}
    </>
  );
}

function emptyReason(stale: readonly StalePart[]): string {
  if (isUnknown(stale, 'nodes')) return 'The nodes can’t be read now, and none is known.';
  return 'No node publishes data. Is the heartbeat turned off?';
}

function Row({ node }: { readonly node: NodeOverview }) {
  const { acquirer, group, host, pid, instance, version, startedAt } = node;
  return (
    <tr role="row">
      <td role="cell">
        <strong class="name">{acquirer}</strong>
        <span class="second">
          {host} · pid {pid} · {shortId(instance)}
        </span>
      </td>
      <td role="cell" data-label="Group">
        {group}
      </td>
      <td role="cell" data-label="Version">
        {version ?? <span class="second">unknown</span>}
      </td>
      <td role="cell" data-label="Started">
        <Distance at={startedAt} />
      </td>
      <td role="cell" data-label="Clock">
        <Clock clock={node.clock} />
      </td>
      <td role="cell">
        <NodeDetails node={node} />
      </td>
    </tr>
  );
}

function Clock({ clock: { offset, suspect } }: { readonly clock: NodeOverview['clock'] }) {
  return (
    <>
      <span class={Math.abs(offset ?? 0) > NOTABLE_OFFSET ? 'number attention' : 'number'}>{offsetText(offset)}</span>
      {suspect !== undefined && (
        <span class="second">
          <Badge tone="warning" title={suspect}>
            suspect
          </Badge>{' '}
          {suspect}
        </span>
      )}
    </>
  );
}

/** @param offset ms by which the node's clock is behind cluster time */
function offsetText(offset: number | undefined): string {
  if (offset === undefined) return 'not known yet';
  if (offset === 0) return 'exact';
  return `${Math.abs(offset).toLocaleString()} ms ${offset > 0 ? 'behind' : 'ahead'}`;
}
