import { formatDuration } from '../../../operate/insight/format-duration.js';
import type { JobSchedule } from '../api/answers.js';

/** Formats a schedule: "0 3 * * * Europe/Berlin", "every 30 s", "once, 10 s after the start". */
export function scheduleText({
  kind,
  expression,
  timeZone,
}: Pick<JobSchedule, 'kind' | 'expression' | 'timeZone'>): string {
  if (kind === 'cron') return timeZone === undefined ? expression : `${expression} ${timeZone}`;
  const length = formatDuration(Number(expression));
  return kind === 'interval' ? `every ${length}` : `once, ${length} after the start`;
}

/**
 * Returns the next run after `now`. The node's own next run may be over, because it is as old as the last heartbeat.
 */
export function nextTime({ next, interval }: JobSchedule, now: number): number | undefined {
  if (next === undefined || next >= now) return next;
  return interval ? next + Math.ceil((now - next) / interval) * interval : undefined;
}
