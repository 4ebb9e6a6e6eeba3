import type { JobSchedule } from '../api/answers.js';
import { clusterTime } from '../live/cluster-time.js';
import { nextTime, scheduleText } from './schedule-text.js';
import { Distance } from './time.js';

/** When a job runs by itself, and when that is next. */
export function Schedule({ schedule }: { readonly schedule: JobSchedule }) {
  const next = nextTime(schedule, clusterTime.value);
  return (
    <>
      <code>{scheduleText(schedule)}</code>
      {next !== undefined && (
        <>
          {' · next '}
          <Distance at={next} />
        </>
      )}
    </>
  );
}
