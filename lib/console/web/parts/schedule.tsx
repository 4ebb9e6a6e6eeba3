import type { JobSchedule } from '../api/answers.js';
import { clusterTime } from '../live/cluster-time.js';
import { nextTime, scheduleText } from './schedule-text.js';
import { Distance } from './time.js';

/** Shows the schedule of a job, and its next run. */
export function Schedule({ schedule }: { readonly schedule: JobSchedule }) {
  const next = nextTime(schedule, clusterTime.value);
  return (
    <>
      <Expression {...schedule} />
      {next !== undefined && (
        <>
          {' · next '}
          <Distance at={next} />
        </>
      )}
    </>
  );
}

/** Shows a schedule without its next run. A line may break between the fields of a cron expression, never within one. */
export function Expression(schedule: Pick<JobSchedule, 'kind' | 'expression' | 'timeZone'>) {
  if (schedule.kind !== 'cron') return <code>{scheduleText(schedule)}</code>;
  const { expression, timeZone } = schedule;
  return (
    <>
      <code>
        {expression
          .trim()
          .split(/\s+/)
          .flatMap((field, index) => [index > 0 && ' ', <span class="cron-field">{field}</span>])}
      </code>
      {timeZone !== undefined && ` ${timeZone}`}
    </>
  );
}
