import { Fragment } from 'preact';
import { type MaybeStale, stalePart } from '../../../core/context/stale.js';
import { shortId } from '../../lists/texts.js';
import { AllocationView } from '../allocation/allocation-view.js';
import type { Column, Columns } from '../../lists/column.js';
import { NODE_COLUMNS } from '../../lists/nodes.js';
import type { NodeOverview } from '../api/answers.js';
import { pathOf } from '../api/call.js';
import { anyChange, nothing } from '../live/concerns.js';
import { RARELY, SELDOM } from '../live/live-query.js';
import { useLive } from '../live/use-live.js';
import { Badge } from '../parts/badge.js';
import { Excerpt } from '../parts/excerpt.js';
import { hasWords } from '../parts/has-words.js';
import { dateTime, digits } from '../parts/format.js';
import { Empty, Loaded } from '../parts/page-state.js';
import { ResultCount } from '../parts/result-count.js';
import { SemaphoreLink } from '../parts/semaphore-link.js';
import { Heads, SortChoice, sorted } from '../parts/sorting.js';
import { StaleNotice } from '../parts/stale-notice.js';
import { Distance } from '../parts/time.js';
import { Search } from '../parts/search.js';
import { Views } from '../parts/views.js';
import { changeQuery, route } from '../parts/router.js';
import { type ListedNode, listedNodes } from './listed-nodes.js';
import { NodeDetails } from './node-details.js';

/** ms. A larger offset of a node's clock is highlighted, although permits don't depend on it. */
const NOTABLE_OFFSET = 1000;

const VIEWS = [
  [['nodes'], 'Processes'],
  [['nodes', 'allocation'], 'Allocation'],
] as const;

/** The list of nodes, and the allocation view if the answering node has allocation groups. */
export function NodesPage({ view }: { readonly view: string | undefined }) {
  const isAllocation = view === 'allocation';
  const [concerns, interval] = isAllocation ? ([anyChange, SELDOM] as const) : ([nothing, RARELY] as const);
  const groups = useLive(pathOf('groups'), concerns, interval);
  const isUsed = (groups.data.value?.groups.length ?? 0) > 0;
  return (
    <>
      {(isUsed || isAllocation) && <Views label="Views of Nodes" views={VIEWS} />}
      {isAllocation ? (
        <Loaded query={groups}>{(answer) => <AllocationView groups={answer.groups} />}</Loaded>
      ) : (
        <Processes />
      )}
    </>
  );
}

function Processes() {
  const query = useLive(pathOf('nodes'), anyChange);
  const leaders = useLive(pathOf('leaders'), anyChange);
  const search = route.value.query.get('search') ?? '';
  return (
    <>
      <p class="lead">
        The living processes of the application, and the nodes that take part in leadership and allocation.
      </p>
      <div class="toolbar">
        <Search
          label="Search group, name, host, version"
          value={search}
          onValue={(value) => changeQuery({ search: value })}
        />
      </div>
      <Loaded query={query}>
        {(answer) => {
          const listed = listedNodes(answer.nodes, leaders.data.value);
          return (
            <NodeTable
              stale={answer.stale}
              nodes={listed.filter(({ group, acquirer, host, version }) =>
                hasWords([group, acquirer, host, version], search),
              )}
              all={listed.length}
              hasMembers={listed.some(({ member }) => member)}
            />
          );
        }}
      </Loaded>
    </>
  );
}

interface NodeTableProps extends MaybeStale {
  readonly nodes: readonly ListedNode[];
  readonly all: number;
  /** Whether any node takes part in leadership. Otherwise the table has no column for it. */
  readonly hasMembers: boolean;
}

const MEMBERSHIP: Column<ListedNode> = {
  title: 'Membership',
  value: ({ member }) => member?.state,
  firstOrder: 'ascending',
};

function columnsOf(hasMembers: boolean): Columns<ListedNode> {
  return {
    node: { ...NODE_COLUMNS.acquirer, title: 'Node' },
    group: NODE_COLUMNS.group,
    ...(hasMembers && { membership: MEMBERSHIP }),
    version: NODE_COLUMNS.version,
    started: { title: 'Started', value: ({ startedAt }) => startedAt, firstOrder: 'descending' },
    clock: { title: NODE_COLUMNS.clock.title, value: offsetOf, firstOrder: 'descending' },
    holds: { title: 'Holds and runs', value: ({ published }) => published?.holds.length, firstOrder: 'descending' },
  };
}

function offsetOf({ published }: ListedNode): number | undefined {
  const offset = published?.clock.offset;
  return offset === undefined ? undefined : Math.abs(offset);
}

function NodeTable({ nodes, all, stale, hasMembers }: NodeTableProps) {
  const columns = columnsOf(hasMembers);
  return (
    <>
      <StaleNotice of={{ stale }} />
      <ResultCount shown={nodes.length} all={all} one="node" />
      {nodes.length === 0 ? (
        <Empty>{all === 0 ? emptyReason({ stale }) : 'Nothing matches.'}</Empty>
      ) : (
        <>
          <SortChoice columns={columns} />
          <table class="rows nodes" role="table" aria-label="Nodes">
            <thead role="rowgroup">
              <tr role="row">
                <Heads columns={columns} />
              </tr>
            </thead>
            <tbody role="rowgroup">
              {sorted(nodes, columns).map((node) => (
                <Row key={node.instance} node={node} hasMembers={hasMembers} />
              ))}
            </tbody>
          </table>
        </>
      )}
    </>
  );
}

function emptyReason(answer: MaybeStale): string {
  if (stalePart(answer, 'nodes')) return 'The nodes can’t be read now, and none is known.';
  return 'No node publishes data. Is the heartbeat turned off?';
}

interface RowProps {
  readonly node: ListedNode;
  readonly hasMembers: boolean;
}

function Row({ node, hasMembers }: RowProps) {
  const { acquirer, group, host, instance, version, startedAt, published, member, leads } = node;
  return (
    <tr role="row">
      <td role="cell">
        <strong class="name">{acquirer}</strong>
        <span class="second">
          {host}
          {published && ` · pid ${published.pid}`} · {shortId(instance)}
        </span>
      </td>
      <td role="cell" data-label="Group">
        {group}
      </td>
      {hasMembers && (
        <td role="cell" data-label="Membership">
          <Membership member={member} leads={leads} />
        </td>
      )}
      <td role="cell" data-label="Version">
        {version ?? <span class="second">unknown</span>}
      </td>
      <td role="cell" data-label="Started">
        <Distance at={startedAt} />
      </td>
      <td role="cell" data-label="Clock">
        {published ? <Clock clock={published.clock} /> : <span class="second">unknown</span>}
      </td>
      <td role="cell">
        {published ? <NodeDetails node={published} /> : <span class="second">publishes nothing now</span>}
      </td>
    </tr>
  );
}

const MEMBER_TONES = { living: 'good', lapsed: 'bad', left: 'neutral' } as const;

function Membership({ member, leads }: Pick<ListedNode, 'member' | 'leads'>) {
  if (!member) return <span class="second">takes no part</span>;
  const { state, scopes = [] } = member;
  return (
    <>
      <Badge tone={MEMBER_TONES[state]} title={`Its lease ends ${dateTime(member.expiresAt)}, unless it is renewed`}>
        {state}
      </Badge>
      {leads.length > 0 ? (
        <span class="second">
          leads{' '}
          {leads.map((scope, index) => (
            <Fragment key={scope}>
              {index > 0 && ', '}
              <SemaphoreLink name={`leader:${scope}`}>{scope}</SemaphoreLink>
            </Fragment>
          ))}
        </span>
      ) : (
        <span class="second">{scopes.length > 0 ? `waits for ${scopes.join(', ')}` : 'no scopes'}</span>
      )}
    </>
  );
}

function Clock({ clock: { offset, suspect } }: { readonly clock: NodeOverview['clock'] }) {
  return (
    <>
      <span class={Math.abs(offset ?? 0) > NOTABLE_OFFSET ? 'number attention' : 'number'}>{offsetText(offset)}</span>
      {suspect !== undefined && (
        <span class="second">
          <Badge tone="warning">suspect</Badge> <Excerpt>{suspect}</Excerpt>
        </span>
      )}
    </>
  );
}

/** @param offset ms by which the node's clock is behind cluster time */
function offsetText(offset: number | undefined): string {
  if (offset === undefined) return 'not known yet';
  if (offset === 0) return 'exact';
  return `${digits(Math.abs(offset))} ms ${offset > 0 ? 'behind' : 'ahead'}`;
}
