import { useEffect } from 'preact/hooks';
import { type Columns, withoutValue } from '../../lists/column.js';
import { Badge } from '../parts/badge.js';
import { count, digits } from '../parts/format.js';
import { hasWords } from '../parts/has-words.js';
import { Icon } from '../parts/icon.js';
import { Empty, Loaded } from '../parts/page-state.js';
import { ResultCount } from '../parts/result-count.js';
import { Search } from '../parts/search.js';
import { Heads, SortChoice, sorted } from '../parts/sorting.js';
import { StaleNotice } from '../parts/stale-notice.js';
import { Distance } from '../parts/time.js';
import { changeQuery, route } from '../parts/router.js';
import { TypeLink } from '../parts/task-links.js';
import { type TypeOverview, conditionOf, typesIn } from './task-types.js';
import { Trend } from './trend.js';
import { noteSamples, samplesOf } from '../live/type-history.js';
import { WorkViews, useTypes } from '../parts/work-views.js';

/** The types of tasks in the whole cluster. */
export function TypesPage() {
  const query = useTypes();
  const search = route.value.query.get('search') ?? '';
  useEffect(() => query.data.subscribe((answer) => answer && noteSamples(answer.now, typesIn(answer))), [query]);
  return (
    <>
      <WorkViews isOfTasks />
      <Loaded query={query}>
        {(answer) => {
          const all = typesIn(answer);
          const found = all.filter(({ type, nodes }) =>
            hasWords([type, ...nodes.map(({ node }) => node.acquirer)], search),
          );
          return (
            <>
              <StaleNotice of={answer} />
              <div class="toolbar">
                <Search label="Search type, node" value={search} onValue={(value) => changeQuery({ search: value })} />
              </div>
              <ResultCount shown={found.length} all={all.length} one="type" />
              {found.length > 0 ? <TypeTable types={found} /> : <Empty>{emptyReason(all.length)}</Empty>}
              {answer.isCut && (
                <p class="second">There may be more: only the first types with waiting tasks are listed.</p>
              )}
            </>
          );
        }}
      </Loaded>
    </>
  );
}

function emptyReason(all: number): string {
  return all === 0 ? 'No living node handles tasks, and none waits.' : 'Nothing matches.';
}

const COLUMNS: Columns<TypeOverview> = {
  type: { title: 'Type', value: ({ type }) => type, firstOrder: 'ascending' },
  state: { title: 'State', value: (type) => conditionOf(type).word, firstOrder: 'ascending' },
  waiting: { title: 'Waiting', value: ({ waiting }) => waiting, firstOrder: 'descending' },
  running: { title: 'Running', value: ({ running }) => running, firstOrder: 'descending' },
  failed: { title: 'Last minute', value: ({ failed }) => failed, firstOrder: 'descending' },
  backlog: withoutValue('Backlog'),
};

function TypeTable({ types }: { readonly types: readonly TypeOverview[] }) {
  return (
    <>
      <SortChoice columns={COLUMNS} />
      <table class="rows types" role="table" aria-label="Task types">
        <thead role="rowgroup">
          <tr role="row">
            <Heads columns={COLUMNS} />
          </tr>
        </thead>
        <tbody role="rowgroup">
          {sorted(types, COLUMNS).map((type) => (
            <Row key={type.type} of={type} />
          ))}
        </tbody>
      </table>
    </>
  );
}

function Row({ of }: { readonly of: TypeOverview }) {
  const { type, waiting, offeredAt, running, concurrency, nodes } = of;
  const instances = new Set(nodes.map(({ node }) => node.instance));
  const points = samplesOf(type).map((sample) => ({ at: sample.at, value: sample.waiting }));
  return (
    <tr role="row">
      <td role="cell" class="cell-name">
        <TypeLink type={type} />
        <span class="second">{instances.size > 0 ? `on ${count(instances.size, 'node')}` : 'on no node'}</span>
      </td>
      <td role="cell" class="cell-state">
        <TypeState of={of} />
      </td>
      <td role="cell" data-label="Waiting">
        <span class="number">{aboutText(waiting)}</span>
        {offeredAt !== undefined && (
          <span class="second" title="When the first of them was offered to the nodes last">
            offered <Distance at={offeredAt} />
          </span>
        )}
      </td>
      <td role="cell" data-label="Running">
        <span class="number">
          {running} of {concurrency}
        </span>
      </td>
      <td role="cell" data-label="Last minute">
        <Rates of={of} />
      </td>
      <td
        role="cell"
        class={points.length > 1 && points.some(({ value }) => value > 0) ? 'cell-trend' : 'cell-trend flat'}
        data-label="Backlog"
      >
        {points.length > 0 && (
          <Trend label={`Backlog of ${type}`} series={[{ name: 'waiting', tone: 'accent', points }]} />
        )}
      </td>
    </tr>
  );
}

/** The state of a type, and the reason. */
export function TypeState({ of }: { readonly of: TypeOverview }) {
  const { word, tone, sentence } = conditionOf(of);
  return (
    <>
      <span class="badges">
        <Badge tone={tone}>{word}</Badge>
      </span>
      {sentence !== undefined && (
        <span class="second attention" title={sentence}>
          <Icon name="warning" /> {sentence}
        </span>
      )}
    </>
  );
}

/** Completed tasks and failed attempts of the last minute. */
export function Rates({ of: { completed, failed } }: { readonly of: Pick<TypeOverview, 'completed' | 'failed'> }) {
  return (
    <>
      <span class="number">{digits(completed)} completed</span>
      <span class={failed > 0 ? 'second number bad-text' : 'second number'}>{digits(failed)} failed</span>
    </>
  );
}

/** The length of the queues says about how many wait. */
export function aboutText(waiting: number): string {
  return waiting === 0 ? 'none' : `about ${digits(waiting)}`;
}
