import type { Columns } from '../../lists/column.js';
import type { SchedulesAnswer } from '../api/answers.js';
import { pathOf } from '../api/call.js';
import { anyChange } from '../live/concerns.js';
import { SELDOM } from '../live/live-query.js';
import { useLive } from '../live/use-live.js';
import { Badge } from '../parts/badge.js';
import { count, isoTime } from '../parts/format.js';
import { Empty, Loaded } from '../parts/page-state.js';
import { type Cells, PlainTable } from '../parts/plain-table.js';
import { Expression } from '../parts/schedule.js';
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
  schedule: { title: 'Schedule', value: ({ name }) => name, firstOrder: 'ascending' },
  expression: { title: 'Expression', value: ({ expression }) => expression },
  mode: { title: 'Mode', value: ({ mode }) => mode, firstOrder: 'ascending' },
  next: { title: 'Next', value: ({ next }) => next, firstOrder: 'ascending' },
  planned: { title: 'Last planned', value: ({ last }) => last, firstOrder: 'descending' },
  run: { title: 'Last run', value: ({ run }) => run, firstOrder: 'descending' },
  skipped: { title: 'Skipped', value: ({ skipped }) => skipped.length, firstOrder: 'descending' },
};

const CELLS: Cells<ScheduleOf> = {
  schedule: {
    show: ({ name, type, isHere, isUnreadable }) => (
      <>
        <strong>{name}</strong>
        <span class="second">
          <TypeLink type={type} />
        </span>
        {!isHere && <Badge tone="neutral">not on this node</Badge>}
        {isUnreadable && <Unreadable />}
      </>
    ),
  },
  expression: {
    show: ({ expression, timeZone }) => (
      <>
        {expression !== undefined && <Expression kind="cron" expression={expression} />}
        <span class="second">{timeZone}</span>
      </>
    ),
  },
  mode: {
    show: ({ mode, missed, waiting }) => (
      <>
        <span>{mode}</span>
        {missed !== undefined && <span class="second">missed: {missed}</span>}
        {waiting > 0 && <span class="second attention">{count(waiting, 'tick')} waiting</span>}
      </>
    ),
    isNamed: true,
  },
  next: {
    show: ({ next, silentUntil }) => (
      <>
        <Planned at={next} none="can’t be read" />
        {silentUntil !== undefined && <span class="second attention">not before: the store’s clock was set back</span>}
      </>
    ),
    class: '',
    isNamed: true,
  },
  planned: { show: (of) => <Planned at={of.last} none={noneOf(of)} />, class: '', isNamed: true },
  run: {
    show: (of) =>
      of.run === undefined ? <span class="second">{noneOf(of)}</span> : <LastRun type={of.type} run={of.run} />,
    class: '',
    isNamed: true,
  },
  skipped: { show: (of) => <Skipped of={of} />, class: '', isNamed: true },
};

function noneOf({ isUnreadable }: ScheduleOf): string {
  return isUnreadable ? 'unknown' : 'none yet';
}

function Skipped({ of: { skipped, isUnreadable } }: { readonly of: ScheduleOf }) {
  const last = skipped.at(-1);
  if (!last) return <span class="second">{isUnreadable ? 'unknown' : 'none'}</span>;
  return (
    <>
      {count(skipped.length, 'tick')}, the last <Distance at={last.at} />
    </>
  );
}

function ScheduleTable({ schedules }: Pick<SchedulesAnswer, 'schedules'>) {
  return (
    <section class="panel filling" aria-label="Schedules of tasks">
      <PlainTable label="Schedules" columns={COLUMNS} rows={schedules} keyOf={({ name }) => name} cells={CELLS} />
    </section>
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
