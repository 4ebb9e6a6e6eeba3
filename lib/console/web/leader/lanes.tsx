import { formatDuration } from '../../../operate/insight/format-duration.js';
import { count, dateTime, timeFormat } from '../parts/format.js';
import { endText, isBad } from './term-end.js';
import { type Lane, type Span, type TermLanes, ticksOf } from './term-lanes.js';

const DAY = 86_400_000;
const timeOfDay = timeFormat({ hour: '2-digit', minute: '2-digit' });
const day = timeFormat({ day: 'numeric', month: 'short' });

/** Draws a lane per node with its terms, and the times without a leader in red. The table below has the same as text. */
export function Lanes({ drawn }: { readonly drawn: TermLanes }) {
  const place = placing(drawn);
  return (
    <div class="lanes" role="img" aria-label={describe(drawn)}>
      {drawn.lanes.map((lane) => (
        <NodeLane key={lane.node} lane={lane} place={place} />
      ))}
      {drawn.gaps.length > 0 && (
        <div class="lane">
          <span class="lane-name bad">no leader</span>
          <span class="track" />
        </div>
      )}
      <div class="lane-gaps">
        {drawn.gaps.map((gap) => (
          <span
            key={gap.from}
            class="lane-gap"
            style={place(gap)}
            title={`no leader for ${formatDuration(gap.to - gap.from)}`}
          />
        ))}
      </div>
      <div class="lane axis">
        <span class="lane-name" />
        <span class="track">
          {ticksOf(drawn).map((at) => (
            <span key={at} class="tick" style={{ left: place({ from: at, to: at }).left }}>
              {(drawn.to - drawn.from > 2 * DAY ? day : timeOfDay)(at)}
            </span>
          ))}
        </span>
      </div>
    </div>
  );
}

type Place = (span: Span) => { readonly left: string; readonly width: string };

function NodeLane({ lane: { node, name, terms }, place }: { readonly lane: Lane; readonly place: Place }) {
  return (
    <div class="lane">
      <span class="lane-name" title={node}>
        {name}
      </span>
      <span class="track">
        {terms.map(({ term, ...span }) => (
          <span
            key={term.token}
            class={term.to === undefined ? 'term present' : isBad(term) ? 'term lost' : 'term'}
            style={place(span)}
            title={`${name}, ${formatDuration(span.to - span.from)} from ${dateTime(term.from)}. ${endText(term)}.`}
          />
        ))}
      </span>
    </div>
  );
}

function placing({ from, to }: Span): Place {
  const percent = (part: number) => `${((100 * part) / (to - from)).toFixed(3)}%`;
  return (span) => ({ left: percent(span.from - from), width: percent(span.to - span.from) });
}

function describe({ lanes, gaps }: TermLanes): string {
  const terms = lanes.reduce((sum, lane) => sum + lane.terms.length, 0);
  return `${count(terms, 'term')} on ${count(lanes.length, 'node')}, ${count(gaps.length, 'time')} without a leader; the table below lists them`;
}
