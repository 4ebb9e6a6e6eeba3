import type { ComponentChildren } from 'preact';
import type { Columns } from '../../lists/column.js';
import type { TermOverview } from '../api/answers.js';
import { clusterTime } from '../live/cluster-time.js';
import { count } from '../parts/format.js';
import { Empty } from '../parts/page-state.js';
import { type Cells, PlainTable } from '../parts/plain-table.js';
import { replaceQuery, route } from '../parts/router.js';
import { endText, isBad } from './term-end.js';
import { Lanes } from './lanes.js';
import { type Span, type TermLanes, termLanes } from './term-lanes.js';

const HOUR = 3_600_000;
const RANGES = [
  ['1h', 'Last hour', HOUR],
  ['24h', 'Last day', 24 * HOUR],
] as const;

/** Shows the terms of a scope: a lane per node, and a table with the end of each term. */
export function TermsPanel({ terms }: { readonly terms: readonly TermOverview[] | undefined }) {
  const chosen = RANGES.find(([id]) => id === route.value.query.get('range'));
  if (!terms) return <Frame children={<Empty>The history can’t be read now.</Empty>} />;
  if (terms.length === 0) return <Frame children={<Empty>No node has led this scope yet.</Empty>} />;
  const drawn = termLanes(terms, clusterTime.value, chosen?.[2]);
  return (
    <Frame>
      <div class="filters" role="group" aria-label="Range">
        <button type="button" aria-pressed={!chosen} onClick={() => replaceQuery({})}>
          All terms
        </button>
        {RANGES.map(([id, label]) => (
          <button type="button" key={id} aria-pressed={chosen?.[0] === id} onClick={() => replaceQuery({ range: id })}>
            {label}
          </button>
        ))}
      </div>
      <Lanes drawn={drawn} />
      <TermTable drawn={drawn} />
    </Frame>
  );
}

function Frame({ children }: { readonly children: ComponentChildren }) {
  return (
    <section class="panel terms" aria-labelledby="terms-title">
      <h2 id="terms-title">Terms</h2>
      {children}
    </section>
  );
}

/** A term, or a time without a leader. */
interface TermRow extends Span {
  readonly term?: TermOverview;
}

const COLUMNS: Columns<TermRow> = {
  node: { title: 'Node', value: ({ term }) => term?.node.acquirer },
  began: { title: 'Began', value: beginOf, kind: 'time' },
  lasted: { title: 'Lasted', value: (row) => row.to - beginOf(row), kind: 'duration' },
  end: { title: 'How it ended', value: ({ term }) => term && endText(term) },
  token: { title: 'Token', value: ({ term }) => term?.token },
};

const CELLS: Cells<TermRow> = {
  node: {
    show: ({ term }) =>
      term ? (
        <>
          {term.node.acquirer} <span class="second">{term.node.group}</span>
        </>
      ) : (
        'no leader'
      ),
    title: ({ term }) => term?.node.instance,
  },
  began: { isNamed: true },
  lasted: { isNamed: true },
  end: { show: ({ term }) => term && <span class={isBad(term) ? 'attention' : ''}>{endText(term)}</span> },
  token: { class: 'number second', isNamed: ({ term }) => term !== undefined },
};

function TermTable({ drawn: { lanes, gaps } }: { readonly drawn: TermLanes }) {
  const terms = lanes.flatMap((lane) => lane.terms);
  const rows: readonly TermRow[] = [...gaps, ...terms];
  return (
    <>
      <p class="second">
        {count(terms.length, 'term')}, {count(gaps.length, 'time')} without a leader for more than 1 s
      </p>
      <PlainTable
        label="Terms"
        columns={COLUMNS}
        rows={rows.toSorted((one, other) => beginOf(other) - beginOf(one))}
        keyOf={({ term, from }) => term?.token ?? `gap ${from}`}
        cells={CELLS}
        rowClass={({ term }) => (term ? '' : 'gap-row')}
      />
    </>
  );
}

/** Also of a term that began before the drawn range. */
function beginOf({ term, from }: TermRow): number {
  return term?.from ?? from;
}
