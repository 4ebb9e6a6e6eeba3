import type { MissedTicks, ParsedSchedule } from '../rules/schedule-options.js';
import {
  SCHEDULE_TYPE,
  type ScheduleRecord,
  type SkippedTick,
  UNREADABLE_SCHEDULE,
  decidedUntil,
  silentUntil,
} from '../rules/schedule-record.js';
import { type Ticks, readTicks } from '../../core/cron/ticks.js';

/** A schedule of the cluster. Times are cluster time in ms since 1970. */
export interface ScheduleView {
  /** Name of the schedule. */
  readonly name: string;
  /** Type of its tasks. The semaphore `task:<type>` limits and pauses it. */
  readonly type: string;
  /**
   * The cron expression; of a schedule of other nodes, as the node has it that submitted last. Absent, as zone and mode, if
   * that record can't be read.
   */
  readonly expression?: string;
  /** Name of the time zone. */
  readonly timeZone?: string;
  /** `once-per-tick`, `at-most-one-running` or `queue`. */
  readonly mode?: string;
  /** Effect of missed ticks; absent for a schedule of other nodes. */
  readonly missed?: MissedTicks;
  /** Whether this node has the schedule. If no node has it any more, its record is all that is left. */
  readonly isHere: boolean;
  /**
   * Present if this node can't read the record: it is of a newer version, or corrupt. Then it knows nothing of the past, and
   * submits no ticks.
   */
  readonly isUnreadable?: true;
  /**
   * Present if no tick runs up to this time: the record has it as the last planned time, and it is still to come, because
   * the store's clock was ahead and was set back.
   */
  readonly silentUntil?: number;
  /** The next planned time; absent if the expression can't be read. */
  readonly next?: number;
  /** The last planned time that was decided about; absent before the first. */
  readonly last?: number;
  /** The last planned time that was submitted. */
  readonly run?: number;
  /** Number of ticks that wait for the end of the former run, in mode `queue`. */
  readonly waiting: number;
  /** The last ticks that were skipped, at most 10, each with the planned time of the run because of which it was. */
  readonly skipped: readonly SkippedTick[];
}

/** A tick that was skipped. */
export interface SkippedRun {
  /** Id of the task because of which it was. */
  readonly former: string;
}

type Stored = ScheduleRecord | typeof UNREADABLE_SCHEDULE;

/** @param record absent if the node has not written it yet */
export function viewOf(schedule: ParsedSchedule, record: Stored | undefined, now: number): ScheduleView {
  const { name, expression, timeZone, mode, missed, ticks } = schedule;
  return {
    name,
    type: SCHEDULE_TYPE + name,
    expression,
    timeZone,
    mode,
    missed,
    isHere: true,
    ...next(ticks, record, now),
    ...past(record),
  };
}

/** A schedule of which this node has only the record. */
export function viewOfOthers(name: string, record: Stored, now: number): ScheduleView {
  const named = { name, type: SCHEDULE_TYPE + name, isHere: false, ...past(record) };
  if (record === UNREADABLE_SCHEDULE) return named;
  const { expression, timeZone, mode } = record;
  const read = readTicks(expression, timeZone);
  const times = 'ticks' in read ? next(read.ticks, record, now) : {};
  return { ...named, expression, timeZone, mode, ...times };
}

function next(ticks: Ticks, record: Stored | undefined, now: number) {
  const from = record === undefined || record === UNREADABLE_SCHEDULE ? now : decidedUntil(record);
  const until = silentUntil(from, now);
  return { ...(until !== undefined && { silentUntil: until }), next: ticks.next(until ?? now) };
}

function past(record: Stored | undefined) {
  if (record === UNREADABLE_SCHEDULE) return { isUnreadable: true as const, waiting: 0, skipped: [] };
  const { last, run, waiting = [], skipped = [] } = record ?? {};
  return { ...(last !== undefined && { last }), ...(run !== undefined && { run }), waiting: waiting.length, skipped };
}
