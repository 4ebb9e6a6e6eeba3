import { formatDuration } from '../../../insight/format-duration.js';
import type { JobSchedule } from '../api/answers.js';

/** When a job runs by itself: "0 3 * * *", "every 30 s", "once, 10 s after the start". */
export function scheduleText({ kind, expression }: JobSchedule): string {
  if (kind === 'cron') return expression;
  const length = formatDuration(Number(expression));
  return kind === 'interval' ? `every ${length}` : `once, ${length} after the start`;
}

/** A node's times are as old as its heartbeat: the next run may be over, and then the one after it is shown. */
export function nextTime({ next, interval }: JobSchedule, now: number): number | undefined {
  if (next === undefined || next >= now) return next;
  return interval ? next + Math.ceil((now - next) / interval) * interval : undefined;
}
