import { type ComponentChildren, Fragment } from 'preact';
import { formatDuration } from '../../../operate/insight/format-duration.js';
import type { TermOverview } from '../api/answers.js';
import { clusterTime } from '../live/cluster-time.js';
import { count } from '../parts/format.js';
import { Empty } from '../parts/page-state.js';
import { PlainTable } from '../parts/plain-table.js';
import { DateTime } from '../parts/time.js';
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

function TermTable({ drawn: { lanes, gaps } }: { readonly drawn: TermLanes }) {
  const terms = lanes.flatMap((lane) => lane.terms).toSorted((one, other) => other.term.from - one.term.from);
  const before = (at: number, until: number) => gaps.filter(({ from }) => from >= at && from < until);
  return (
    <>
      <p class="second">
        {count(terms.length, 'term')}, {count(gaps.length, 'time')} without a leader for more than 1 s
      </p>
      <PlainTable label="Terms" columns={['Node', 'Began', 'Lasted', 'How it ended', 'Token']}>
        {terms.map(({ term }, index) => (
          <Fragment key={term.token}>
            {before(term.from, index === 0 ? Infinity : terms[index - 1]!.term.from).map((gap) => (
              <Gap key={gap.from} gap={gap} />
            ))}
            <Row term={term} />
          </Fragment>
        ))}
      </PlainTable>
    </>
  );
}

function Gap({ gap: { from, to } }: { readonly gap: Span }) {
  return (
    <tr class="gap-row">
      <td>no leader</td>
      <td class="number" data-label="Began">
        <DateTime at={from} />
      </td>
      <td class="number" data-label="Lasted">
        {formatDuration(to - from)}
      </td>
      <td colSpan={2} />
    </tr>
  );
}

function Row({ term }: { readonly term: TermOverview }) {
  const { node, from, to = clusterTime.value, token } = term;
  return (
    <tr>
      <td title={node.instance}>
        {node.acquirer} <span class="second">{node.group}</span>
      </td>
      <td class="number" data-label="Began">
        <DateTime at={from} />
      </td>
      <td class="number" data-label="Lasted">
        {formatDuration(to - from)}
      </td>
      <td class={isBad(term) ? 'attention' : ''}>{endText(term)}</td>
      <td class="number second" data-label="Token">
        {token}
      </td>
    </tr>
  );
}
