import { useState } from 'preact/hooks';
import { shortId } from '../../lists/texts.js';
import { MOVE_COLUMNS, isOnTheWay } from '../../lists/allocation.js';
import { pick } from '../../lists/column.js';
import type { GroupAnswer, MovesAnswer } from '../api/answers.js';
import { count, digits } from '../parts/format.js';
import { Empty, Loaded } from '../parts/page-state.js';
import { TableFrame } from '../parts/plain-table.js';
import { Search } from '../parts/search.js';
import { DateTime } from '../parts/time.js';
import type { LiveQuery } from '../live/live-query.js';
import { changeQuery, route } from '../parts/router.js';

type Change = MovesAnswer['changes'][number];
type Move = Change['moves'][number];

/** Number of resources that a row names at once. */
const MOST_SHOWN = 4;

interface MovesPanelProps {
  readonly group: GroupAnswer;
  readonly query: LiveQuery<MovesAnswer>;
}

/** The past moves of resources, newest first: when, from which node to which, and why. */
export function MovesPanel({ group, query }: MovesPanelProps) {
  const resource = route.value.query.get('moved') ?? '';
  const node = route.value.query.get('of') ?? '';
  return (
    <section class="panel moves" aria-labelledby="moves-title">
      <h2 id="moves-title">Moves</h2>
      <div class="toolbar">
        <Search
          landmark="Moves"
          label="Search moved resources"
          value={resource}
          onValue={(moved) => changeQuery({ moved })}
        />
        <NodeFilter group={group} chosen={node} />
      </div>
      <Loaded query={query}>
        {({ changes, unnamed }) => (
          <>
            {changes.length > 0 && <MovesTable changes={changes} />}
            {changes.length === 0 && (
              <Empty>{resource || node ? 'Nothing matches.' : 'No resource has moved yet.'}</Empty>
            )}
            {unnamed > 0 && (
              <p class="second">
                {count(unnamed, 'change')} moved more resources than the history names. They may have moved others that
                match.
              </p>
            )}
          </>
        )}
      </Loaded>
    </section>
  );
}

/** Offers the nodes of the group, and the chosen one, which may be gone. */
function NodeFilter({ group, chosen }: { readonly group: GroupAnswer; readonly chosen: string }) {
  const names = new Set([...group.nodes.map(({ node }) => node), ...(chosen ? [chosen] : [])]);
  return (
    <select
      aria-label="From or to node"
      onChange={(event) => changeQuery({ of: event.currentTarget.value || undefined })}
    >
      <option value="" selected={chosen === ''}>
        All nodes
      </option>
      {[...names].map((name) => (
        <option key={name} value={name} selected={name === chosen}>
          {name}
        </option>
      ))}
    </select>
  );
}

const COLUMNS = pick(MOVE_COLUMNS, ['when', 'resources', 'from', 'to', 'why']);

function MovesTable({ changes }: { readonly changes: readonly Change[] }) {
  return (
    <TableFrame label="Moves" columns={COLUMNS}>
      {changes.map((change) => (
        <Rows key={`${change.at} ${change.version}`} change={change} />
      ))}
    </TableFrame>
  );
}

/** One row per nodes and reason. The time stands beside all rows of a change. */
function Rows({ change }: { readonly change: Change }) {
  const { moves, sentence } = change;
  return (
    <>
      {sentence !== undefined && (
        <tr>
          <When change={change} rows={moves.length + 1} />
          <td colSpan={4} class="attention">
            {sentence}
          </td>
        </tr>
      )}
      {moves.map((move, at) => (
        <tr key={at}>
          {at === 0 && sentence === undefined && <When change={change} rows={moves.length} />}
          <td>
            <Resources move={move} />
          </td>
          <td data-label={COLUMNS.from.title}>
            <span>{move.from ?? 'no owner'}</span>
            <Process instance={move.fromInstance} />
          </td>
          <td data-label={COLUMNS.to.title}>
            <Target move={move} />
          </td>
          <td class={move.why === 'owner-gone' ? 'detail attention' : 'detail'}>{move.reason}</td>
        </tr>
      ))}
    </>
  );
}

function When({ change: { at, version, node }, rows }: { readonly change: Change; readonly rows: number }) {
  return (
    <td rowSpan={rows}>
      <DateTime at={at} />
      <span class="second" title={`decided by ${node.acquirer} (${node.instance})`}>
        owner map {version}, by {node.acquirer}
      </span>
    </td>
  );
}

/** Tells two processes of one node apart. */
function Process({ instance }: { readonly instance: string | undefined }) {
  if (instance === undefined) return null;
  return (
    <span class="second" title={instance}>
      process {shortId(instance)}
    </span>
  );
}

function Target({ move }: { readonly move: Move }) {
  const { to, toInstance } = move;
  if (to !== undefined)
    return (
      <>
        <span>{to}</span>
        <Process instance={toInstance} />
      </>
    );
  return <>{isOnTheWay(move) ? 'on the way' : 'no node'}</>;
}

function Resources({ move: { count: all, resources } }: { readonly move: Move }) {
  const [isOpen, setOpen] = useState(false);
  const shown = isOpen ? resources : resources.slice(0, MOST_SHOWN);
  const hidden = all - shown.length;
  return (
    <span class="moved">
      {shown.map((id) => (
        <code key={id}>{id}</code>
      ))}
      {hidden > 0 && shown.length < resources.length && (
        <button type="button" class="small" onClick={() => setOpen(true)}>
          {digits(hidden)} more
        </button>
      )}
      {hidden > 0 && shown.length === resources.length && (
        <span class="second">
          {resources.length > 0 && 'and '}
          {count(hidden, 'resource')} {resources.length > 0 && 'more'}
        </span>
      )}
    </span>
  );
}
