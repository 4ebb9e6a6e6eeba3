import type { SchedulesAnswer } from '../api/answers.js';
import { pathOf } from '../api/call.js';
import { anyChange } from '../live/concerns.js';
import { SELDOM } from '../live/live-query.js';
import { useLive } from '../live/use-live.js';
import { Badge } from '../parts/badge.js';
import { count, isoTime } from '../parts/format.js';
import { Empty, Loaded } from '../parts/page-state.js';
import { PlainTable } from '../parts/plain-table.js';
import { Expression } from '../parts/schedule.js';
import { type Columns, sorted } from '../parts/sorting.js';
import { DateTime, Distance } from '../parts/time.js';
import { TaskLink, TypeLink } from '../parts/task-links.js';
import { Unreadable } from './task-tree.js';
import { WorkViews } from '../parts/work-views.js';

type ScheduleOf = SchedulesAnswer['schedules'][number];

/** The schedules of the cluster, with their last and next planned times. */
export function SchedulesPage() {
  const query = useLive(pathOf('schedules'), anyChange, SELDOM);
  return (
    <>
      <WorkViews isOfTasks />
      <Loaded query={query}>
        {({ schedules }) =>
          schedules.length === 0 ? <Empty>No method has @ClusterCron.</Empty> : <ScheduleTable schedules={schedules} />
        }
      </Loaded>
    </>
  );
}

const COLUMNS: Columns<ScheduleOf> = {
  schedule: { title: 'Schedule', by: ({ name }) => name },
  expression: { title: 'Expression' },
  mode: { title: 'Mode', by: ({ mode }) => mode },
  next: { title: 'Next', by: ({ next }) => next },
  planned: { title: 'Last planned', by: ({ last }) => last, first: 'descending' },
  run: { title: 'Last run', by: ({ run }) => run, first: 'descending' },
  skipped: { title: 'Skipped', by: ({ skipped }) => skipped.length, first: 'descending' },
};

function ScheduleTable({ schedules }: Pick<SchedulesAnswer, 'schedules'>) {
  return (
    <section class="panel filling" aria-label="Schedules of tasks">
      <PlainTable label="Schedules" columns={COLUMNS}>
        {sorted(schedules, COLUMNS).map((each) => (
          <Row key={each.name} of={each} />
        ))}
      </PlainTable>
    </section>
  );
}

function Row({ of }: { readonly of: ScheduleOf }) {
  const { name, type, expression, timeZone, mode, missed, isHere, isUnreadable, silentUntil, next, last, run } = of;
  const { waiting, skipped } = of;
  const lastSkipped = skipped.at(-1);
  const none = isUnreadable ? 'unknown' : 'none yet';
  return (
    <tr>
      <td>
        <strong>{name}</strong>
        <span class="second">
          <TypeLink type={type} />
        </span>
        {!isHere && <Badge tone="neutral">not on this node</Badge>}
        {isUnreadable && <Unreadable />}
      </td>
      <td>
        {expression !== undefined && <Expression kind="cron" expression={expression} />}
        <span class="second">{timeZone}</span>
      </td>
      <td data-label="Mode">
        <span>{mode}</span>
        {missed !== undefined && <span class="second">missed: {missed}</span>}
        {waiting > 0 && <span class="second attention">{count(waiting, 'tick')} waiting</span>}
      </td>
      <td data-label="Next">
        <Planned at={next} none="can’t be read" />
        {silentUntil !== undefined && <span class="second attention">not before: the store’s clock was set back</span>}
      </td>
      <td data-label="Last planned">
        <Planned at={last} none={none} />
      </td>
      <td data-label="Last run">
        {run === undefined ? <span class="second">{none}</span> : <LastRun type={type} run={run} />}
      </td>
      <td data-label="Skipped">
        {lastSkipped ? (
          <>
            {count(skipped.length, 'tick')}, the last <Distance at={lastSkipped.at} />
          </>
        ) : (
          <span class="second">{isUnreadable ? none : 'none'}</span>
        )}
      </td>
    </tr>
  );
}

function Planned({ at, none }: { readonly at: number | undefined; readonly none: string }) {
  if (at === undefined) return <span class="second">{none}</span>;
  return (
    <>
      <Distance at={at} />
      <span class="second">
        <DateTime at={at} />
      </span>
    </>
  );
}

/** The task of a tick has the planned time in its id. */
function LastRun({ type, run }: { readonly type: string; readonly run: number }) {
  return (
    <TaskLink id={`${type}:${tickTime(run)}`}>
      <Distance at={run} />
    </TaskLink>
  );
}

/** As `iso` of the library's schedule records. */
function tickTime(at: number): string {
  return (isoTime(at) ?? String(at)).replace('.000Z', 'Z');
}
