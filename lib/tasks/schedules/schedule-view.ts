import type { ParsedSchedule } from '../rules/schedule-options.js';
import {
  SCHEDULE_TYPE,
  type ScheduleRecord,
  UNREADABLE_SCHEDULE,
  decidedUntil,
  silentUntil,
} from '../rules/schedule-record.js';
import { type Ticks, readTicks } from '../../core/cron/ticks.js';
import type { ScheduleView } from '../rules/views.js';

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
