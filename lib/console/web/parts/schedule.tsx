import type { JobSchedule } from '../api/answers.js';
import { clusterTime } from '../live/cluster-time.js';
import { nextTime, scheduleText } from './schedule-text.js';
import { Distance } from './time.js';

/** Shows the schedule of a job, and its next run. */
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
