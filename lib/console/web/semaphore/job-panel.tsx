import type { ComponentChildren } from 'preact';
import type { JobAnswer } from '../api/answers.js';
import { formatDuration } from '../../../insight/format-duration.js';
import { SELDOM } from '../live/live-query.js';
import { concerning } from '../live/concerns.js';
import { useLive } from '../live/use-live.js';
import { PlainTable } from '../parts/plain-table.js';

type JobPast = JobAnswer['jobs'][number];
type RunDay = JobPast['days'][number];

const DAY = 86_400_000;
/** Days in the drawing. */
const SHOWN = 31;
/** Units of the drawing. The style sheet gives its size on the screen. */
const COLUMN = 10;
const HEIGHT = 60;

/** For each job of a semaphore: runs by their outcome, and durations, of the last days. */
export function JobPanels({ name }: { readonly name: string }) {
  const query = useLive<JobAnswer>(`semaphores/${encodeURIComponent(name)}/jobs`, concerning(name), SELDOM);
  const jobs = (query.data.value?.jobs ?? []).filter(({ days }) => days.length > 0);
  return (
    <>
      {jobs.map((past) => (
        <JobPanel key={past.job} past={past} />
      ))}
    </>
  );
}

function JobPanel({ past }: { readonly past: JobPast }) {
  const days = past.days.slice(-SHOWN);
  return (
    <section class="panel" aria-label={`Days of ${past.job}`}>
      <h2>
        <code>{past.job}</code>, last {SHOWN} days
      </h2>
      <div class="trend-grid">
        <figure class="trend large">
          <Outcomes days={days} job={past.job} />
          <figcaption>{summaryOf(days)}</figcaption>
        </figure>
        <figure class="trend large">
          <Durations days={days} job={past.job} />
          <figcaption>p50 and p95 of the runs that ended well, at most {longestOf(days)}</figcaption>
        </figure>
      </div>
      <details>
        <summary>Numbers of each day</summary>
        <DayTable days={days} job={past.job} />
      </details>
    </section>
  );
}

interface DaysProps {
  readonly days: readonly RunDay[];
  readonly job: string;
}

/** One column per day: the part of its runs that ended well, and above it the part that did not. */
function Outcomes({ days, job }: DaysProps) {
  return (
    <Drawing label={`Outcomes of ${job} by day: ${summaryOf(days)}`}>
      {days.map((day) => {
        const good = (day.ok / allOf(day)) * HEIGHT;
        const x = placeOf(day, days);
        return (
          <g key={day.at}>
            <rect class="good" x={x} width={COLUMN - 1} y={HEIGHT - good} height={good} />
            {good < HEIGHT && <rect class="bad" x={x} width={COLUMN - 1} y={0} height={Math.max(2, HEIGHT - good)} />}
          </g>
        );
      })}
    </Drawing>
  );
}

/** One column per day: up to p95, and darker up to p50. */
function Durations({ days, job }: DaysProps) {
  const most = Math.max(1, ...days.map(({ p95 = 0 }) => p95));
  const height = (took: number) => Math.max(1, (took / most) * HEIGHT);
  return (
    <Drawing label={`Durations of ${job} by day: p95 at most ${formatDuration(most)}`}>
      {days.map((day) =>
        [day.p95, day.p50].map(
          (took, index) =>
            took !== undefined && (
              <rect
                key={`${day.at} ${index}`}
                class={index === 0 ? 'accent pale' : 'accent'}
                x={placeOf(day, days)}
                width={COLUMN - 1}
                y={HEIGHT - height(took)}
                height={height(took)}
              />
            ),
        ),
      )}
    </Drawing>
  );
}

function Drawing({ label, children }: { readonly label: string; readonly children: ComponentChildren }) {
  return (
    <svg
      class="days"
      viewBox={`0 0 ${SHOWN * COLUMN} ${HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      {children}
    </svg>
  );
}

/** The newest day stands at the right. */
function placeOf({ at }: RunDay, days: readonly RunDay[]): number {
  return (SHOWN - 1 - (days.at(-1)!.at - at) / DAY) * COLUMN;
}

function DayTable({ days, job }: DaysProps) {
  return (
    <PlainTable
      label={`Days of ${job}`}
      columns={['Day (UTC)', 'Ended well', 'Failed', 'Lost its permit', 'Crashed', 'p50', 'p95']}
    >
      {days.toReversed().map(({ at, ok, failed, lost, crashed, p50, p95 }) => (
        <tr key={at}>
          <td class="number">{new Date(at).toISOString().slice(0, 10)}</td>
          {[ok, failed, lost, crashed].map((number, index) => (
            <td class="number" key={index}>
              {number.toLocaleString()}
            </td>
          ))}
          {[p50, p95].map((took, index) => (
            <td class="number" key={index}>
              {took === undefined ? '' : formatDuration(took)}
            </td>
          ))}
        </tr>
      ))}
    </PlainTable>
  );
}

function allOf({ ok, failed, lost, crashed }: RunDay): number {
  return Math.max(1, ok + failed + lost + crashed);
}

function summaryOf(days: readonly RunDay[]): string {
  const ok = days.reduce((sum, day) => sum + day.ok, 0);
  const all = days.reduce((sum, { ok: good, failed, lost, crashed }) => sum + good + failed + lost + crashed, 0);
  return `${ok.toLocaleString()} of ${all.toLocaleString()} runs ended well`;
}

function longestOf(days: readonly RunDay[]): string {
  return formatDuration(Math.max(0, ...days.map(({ p95 = 0 }) => p95)));
}
