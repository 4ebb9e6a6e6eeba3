import type { ComponentChildren } from 'preact';
import type { Columns } from '../../lists/column.js';
import type { AuditEntry, JobAnswer } from '../api/answers.js';
import { pathOf } from '../api/call.js';
import { formatDuration } from '../../../operate/insight/format-duration.js';
import { clusterTime } from '../live/cluster-time.js';
import { RARELY, SELDOM } from '../live/live-query.js';
import { concerning, nothing } from '../live/concerns.js';
import { useLive } from '../live/use-live.js';
import { count, dayTime, digits } from '../parts/format.js';
import { PlainTable } from '../parts/plain-table.js';
import { Unread } from '../parts/unread.js';
import { type JobMark, jobMarks } from './job-marks.js';

type JobPast = JobAnswer['jobs'][number];
type RunDay = JobPast['days'][number];

const DAY = 86_400_000;
/** Days in the drawing. */
const SHOWN = 31;
/** Units of the drawing. The style sheet gives its size on the screen. */
const COLUMN = 10;
const HEIGHT = 60;

interface JobPanelsProps {
  readonly name: string;
  /** Changes of the semaphore, from the audit log. */
  readonly changes: readonly AuditEntry[];
}

/** For each job of a semaphore: runs by their outcome, and durations, of the last days, with changes and deploys. */
export function JobPanels({ name, changes }: JobPanelsProps) {
  const query = useLive(pathOf('semaphoreJobs', { params: { name } }), concerning(name), SELDOM);
  const nodes = useLive(pathOf('nodes'), nothing, RARELY);
  const today = Math.floor(clusterTime.value / DAY) * DAY;
  const isShown = ({ at }: { readonly at: number }) => at > today - SHOWN * DAY;
  return (
    <>
      <Unread query={query}>The past of the jobs can’t be read now.</Unread>
      <Unread query={nodes}>The nodes can’t be read now, so the charts may lack deploys.</Unread>
      {(query.data.value?.jobs ?? []).map(({ job, days, versions }) => {
        const shown = days.filter(isShown);
        const marks = jobMarks({ semaphore: name, job, versions }, changes, nodes.data.value?.nodes ?? []).filter(
          isShown,
        );
        return shown.length > 0 && <JobPanel key={job} job={job} days={shown} today={today} marks={marks} />;
      })}
    </>
  );
}

function JobPanel(shown: DaysProps) {
  const { job, days, marks } = shown;
  return (
    <section class="panel" aria-label={`Days of ${job}`}>
      <h2>
        <span>
          <code>{job}</code>, last {SHOWN} days
        </span>
      </h2>
      <div class="trend-grid">
        <figure class="trend large">
          <Outcomes {...shown} />
          <figcaption>{summaryOf(days)}</figcaption>
        </figure>
        <figure class="trend large">
          <Durations {...shown} />
          <figcaption>p50 and p95 of the runs that ended well, at most {longestOf(days)}</figcaption>
        </figure>
      </div>
      {marks.length > 0 && (
        <ul class="legend" aria-hidden="true">
          <li class="change">change</li>
          <li class="deploy">deploy</li>
        </ul>
      )}
      <details>
        <summary>Numbers of each day</summary>
        <DayTable days={days} job={job} />
      </details>
      {marks.length > 0 && (
        <details>
          <summary>{marksText(marks)}</summary>
          <MarkTable marks={marks} job={job} />
        </details>
      )}
    </section>
  );
}

function marksText(marks: readonly JobMark[]): string {
  const changes = marks.filter(({ kind }) => kind === 'change').length;
  return `${count(changes, 'change')} and ${count(marks.length - changes, 'deploy')}`;
}

interface DaysProps {
  readonly days: readonly RunDay[];
  readonly job: string;
  /** Begin of the present day in UTC, which stands at the right: ms since the epoch. */
  readonly today: number;
  readonly marks: readonly JobMark[];
}

/** One column per day: the part of its runs that ended well, and above it the part that did not. */
function Outcomes({ days, job, today, marks }: DaysProps) {
  return (
    <Drawing label={`Outcomes of ${job} by day: ${summaryOf(days)}`} today={today} marks={marks}>
      {days.map((day) => {
        const good = (day.ok / allOf(day)) * HEIGHT;
        const x = placeOf(day, today);
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
function Durations({ days, job, today, marks }: DaysProps) {
  const most = Math.max(1, ...days.map(({ p95 = 0 }) => p95));
  const height = (took: number) => Math.max(1, (took / most) * HEIGHT);
  return (
    <Drawing label={`Durations of ${job} by day: p95 at most ${formatDuration(most)}`} today={today} marks={marks}>
      {days.map((day) =>
        [day.p95, day.p50].map(
          (took, index) =>
            took !== undefined && (
              <rect
                key={`${day.at} ${index}`}
                class={index === 0 ? 'accent pale' : 'accent'}
                x={placeOf(day, today)}
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

interface DrawingProps extends Pick<DaysProps, 'today' | 'marks'> {
  readonly label: string;
  readonly children: ComponentChildren;
}

function Drawing({ label, today, marks, children }: DrawingProps) {
  return (
    <svg
      class="days"
      viewBox={`0 0 ${SHOWN * COLUMN} ${HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={`${label}; ${marksText(marks)}`}
    >
      {children}
      {marks.map((mark) => {
        const x = placeOf(mark, today);
        return (
          <line key={`${mark.at} ${mark.label}`} class={mark.kind} x1={x} x2={x} y1={0} y2={HEIGHT}>
            <title>{`${dayTime(mark.at)}: ${mark.kind}, ${mark.label}`}</title>
          </line>
        );
      })}
    </svg>
  );
}

/** Where a time is. The present day stands at the right. */
function placeOf({ at }: { readonly at: number }, today: number): number {
  return (SHOWN - 1 - (today - at) / DAY) * COLUMN;
}

const MARK_COLUMNS: Columns<JobMark> = {
  when: { title: 'When', value: ({ at }) => at, kind: 'time' },
  kind: { title: 'Kind', value: ({ kind }) => kind },
  what: { title: 'What', value: ({ label }) => label },
};

function MarkTable({ marks, job }: Pick<DaysProps, 'marks' | 'job'>) {
  return (
    <PlainTable
      label={`Changes and deploys of ${job}`}
      columns={MARK_COLUMNS}
      rows={marks.toReversed()}
      keyOf={({ at, label }) => `${at} ${label}`}
    />
  );
}

const DAY_COLUMNS = {
  day: { title: 'Day (UTC)', value: ({ at }) => at, text: ({ at }) => new Date(at).toISOString().slice(0, 10) },
  ok: { title: 'Ended well', value: ({ ok }) => ok, text: ({ ok }) => digits(ok) },
  failed: { title: 'Failed', value: ({ failed }) => failed, text: ({ failed }) => digits(failed) },
  lost: { title: 'Lost its permit', value: ({ lost }) => lost, text: ({ lost }) => digits(lost) },
  crashed: { title: 'Crashed', value: ({ crashed }) => crashed, text: ({ crashed }) => digits(crashed) },
  p50: { title: 'p50', value: ({ p50 }) => p50, kind: 'duration' },
  p95: { title: 'p95', value: ({ p95 }) => p95, kind: 'duration' },
} satisfies Columns<RunDay>;

const NAMED = { isNamed: true };
const DAY_CELLS = { ok: NAMED, failed: NAMED, lost: NAMED, crashed: NAMED, p50: NAMED, p95: NAMED };

function DayTable({ days, job }: Pick<DaysProps, 'days' | 'job'>) {
  return (
    <PlainTable
      label={`Days of ${job}`}
      columns={DAY_COLUMNS}
      rows={days.toReversed()}
      keyOf={({ at }) => at}
      cells={DAY_CELLS}
    />
  );
}

function allOf({ ok, failed, lost, crashed }: RunDay): number {
  return Math.max(1, ok + failed + lost + crashed);
}

function summaryOf(days: readonly RunDay[]): string {
  const ok = days.reduce((sum, day) => sum + day.ok, 0);
  const all = days.reduce((sum, { ok: good, failed, lost, crashed }) => sum + good + failed + lost + crashed, 0);
  return `${digits(ok)} of ${digits(all)} runs ended well`;
}

function longestOf(days: readonly RunDay[]): string {
  return formatDuration(Math.max(0, ...days.map(({ p95 = 0 }) => p95)));
}
