import { useRef } from 'preact/hooks';
import type { SchedulesAnswer, SemaphoreOverview } from '../api/answers.js';
import { pathOf } from '../api/call.js';
import { anyChange, anyChangeOrRun } from '../live/concerns.js';
import { clusterTime } from '../live/cluster-time.js';
import { SELDOM } from '../live/live-query.js';
import { useLive } from '../live/use-live.js';
import { Badge } from '../parts/badge.js';
import { count, dateTime, shortTime, timeFormat } from '../parts/format.js';
import { hasWords } from '../parts/has-words.js';
import { Empty, Loaded } from '../parts/page-state.js';
import { ResultCount } from '../parts/result-count.js';
import { Search } from '../parts/search.js';
import { Expression } from '../parts/schedule.js';
import { scheduleText } from '../parts/schedule-text.js';
import { StaleNotice } from '../parts/stale-notice.js';
import { Distance } from '../parts/time.js';
import { Unread } from '../parts/unread.js';
import { hrefOf, replaceQuery, route } from '../parts/router.js';
import { FOLLOW_LIST } from '../semaphores/follow-list.js';
import { AHEAD, type PlannedJob, plannedJobs } from './plan.js';

/** Rows in the document. The search finds the others. */
const MOST_ROWS = 200;
const HOURS = [0, 6, 12, 18];
const HOUR = 3_600_000;
const MINUTE = 60_000;

type TaskSchedules = SchedulesAnswer['schedules'];

const NONE: TaskSchedules = [];

/** When jobs are due in the next 24 hours. @param hasTasks whether schedules of tasks are asked for, too */
export function PlanPage({ hasTasks }: { readonly hasTasks: boolean }) {
  const query = useLive(pathOf('semaphoreParts'), anyChangeOrRun, SELDOM, FOLLOW_LIST);
  return (
    <>
      <p class="lead">When jobs are due in the next 24 hours, by the schedules of the living nodes.</p>
      <Loaded query={query}>
        {(answer) => (
          <>
            <StaleNotice of={answer} />
            {hasTasks ? (
              <PlanWithTasks semaphores={answer.semaphores} />
            ) : (
              <Plan semaphores={answer.semaphores} schedules={NONE} />
            )}
          </>
        )}
      </Loaded>
    </>
  );
}

interface PlanProps {
  readonly semaphores: readonly SemaphoreOverview[];
  readonly schedules: TaskSchedules;
}

function PlanWithTasks({ semaphores }: Pick<PlanProps, 'semaphores'>) {
  const query = useLive(pathOf('schedules'), anyChange, SELDOM);
  return (
    <>
      <Unread query={query}>The schedules of tasks can’t be read now.</Unread>
      <Plan semaphores={semaphores} schedules={query.data.value?.schedules ?? NONE} />
    </>
  );
}

/** The plan moves by a minute at a time, and as soon as its next run is due: no next run is in the past. */
function usePlan({ semaphores, schedules }: PlanProps): {
  readonly planned: readonly PlannedJob[];
  readonly at: number;
} {
  const last = useRef<(PlanProps & { planned: readonly PlannedJob[]; at: number }) | undefined>(undefined);
  const now = clusterTime.value;
  const known = last.current;
  const isSame = known?.semaphores === semaphores && known.schedules === schedules;
  if (isSame && now < known.at + MINUTE && (known.planned[0]?.next ?? now) >= now) return known;
  const plan = { planned: plannedJobs(semaphores, schedules, now), at: now };
  last.current = { semaphores, schedules, ...plan };
  return plan;
}

function Plan(props: PlanProps) {
  const { planned, at } = usePlan(props);
  const search = route.value.query.get('search') ?? '';
  const found = planned.filter(({ name, job }) => hasWords([name, job], search));
  return (
    <>
      <div class="toolbar">
        <Search label="Search work, job" value={search} onValue={(value) => replaceQuery({ search: value })} />
      </div>
      <ResultCount shown={Math.min(found.length, MOST_ROWS)} all={planned.length} one="job" />
      {found.length === 0 ? (
        <Empty>{planned.length === 0 ? 'No job is due in the next 24 hours.' : 'Nothing matches.'}</Empty>
      ) : (
        <Rows planned={found.slice(0, MOST_ROWS)} now={at} />
      )}
    </>
  );
}

const hour = timeFormat({ hour: '2-digit', minute: '2-digit' });

function Rows({ planned, now }: { readonly planned: readonly PlannedJob[]; readonly now: number }) {
  return (
    <table class="rows due" role="table" aria-label="Jobs that are due in the next 24 hours">
      <thead role="rowgroup">
        <tr role="row">
          <th role="columnheader">Work</th>
          <th role="columnheader">Next run</th>
          <th role="columnheader" class="due-axis">
            <span class="visually-hidden">Next 24 hours</span>
            {HOURS.map((each) => (
              <span key={each} aria-hidden="true" style={{ left: `${(each / 24) * 100}%` }}>
                {hour(now + each * HOUR)}
              </span>
            ))}
          </th>
        </tr>
      </thead>
      <tbody role="rowgroup">
        {planned.map((each) => (
          <Row key={`${each.path.join('/')}\n${each.name}\n${each.job}`} planned={each} now={now} />
        ))}
      </tbody>
    </table>
  );
}

function Row({ planned, now }: { readonly planned: PlannedJob; readonly now: number }) {
  const { name, path, semaphore, job, schedule, next, times } = planned;
  const obstacle = semaphore && obstacleOf(semaphore);
  return (
    <tr role="row">
      <td role="cell">
        <a class="name" href={hrefOf(path)}>
          {name}
        </a>
        <span class="second">{job}</span>
      </td>
      <td role="cell">
        {obstacle ? (
          <Badge tone={obstacle.tone} title={obstacle.sentence}>
            {obstacle.word}
          </Badge>
        ) : (
          <Distance at={next} />
        )}
        <span class="second">
          <Expression {...schedule} />
        </span>
      </td>
      <td role="cell" class={obstacle ? 'due-lane idle' : 'due-lane'}>
        {times.length === 0 ? (
          <span
            class="due-bar"
            style={{ left: percent(next, now) }}
            title={`${scheduleText(schedule)}, from ${dateTime(next)}`}
          />
        ) : (
          times.map((at) => <span key={at} class="due-mark" style={{ left: percent(at, now) }} title={dateTime(at)} />)
        )}
        <span class="visually-hidden">{textOf(planned, now)}</span>
      </td>
    </tr>
  );
}

function percent(at: number, now: number): string {
  return `${Math.min(100, Math.max(0, ((at - now) / AHEAD) * 100))}%`;
}

/** For screen readers. */
function textOf({ schedule, times }: PlannedJob, now: number): string {
  if (times.length === 0) return `all the time: ${scheduleText(schedule)}`;
  const shown = times.slice(0, 3).map((at) => shortTime(at, now));
  return `${count(times.length, 'run')}: ${shown.join(', ')}${times.length > 3 ? ' …' : ''}`;
}

/** Why a job that is due will not run. */
function obstacleOf({ pause, definition, warnings }: SemaphoreOverview) {
  if (pause || definition?.permits === 0)
    return { word: 'paused', tone: 'warning', sentence: pause?.reason ?? '' } as const;
  const unmatched = warnings.find(({ code }) => code === 'no-node');
  return unmatched && ({ word: 'no node', tone: 'bad', sentence: unmatched.sentence } as const);
}
