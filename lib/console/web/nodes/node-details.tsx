import { useState } from 'preact/hooks';
import type { NodeOverview } from '../api/answers.js';
import { count } from '../parts/format.js';
import { Schedule } from '../parts/schedule.js';
import { SemaphoreLink } from '../parts/semaphore-link.js';
import { Countdown } from '../parts/time.js';

/** Shows the permits and jobs of a node. Renders them only when it is open, because there may be a thousand of each. */
export function NodeDetails({ node }: { readonly node: NodeOverview }) {
  const [isOpen, setOpen] = useState(false);
  const { holds, jobs } = node;
  if (holds.length + jobs.length === 0) return <span class="second">nothing</span>;
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        {count(holds.length, 'permit')}, {count(jobs.length, 'job')}
      </summary>
      {isOpen && <Holds holds={holds} />}
      {isOpen && <Jobs jobs={jobs} />}
    </details>
  );
}

function Holds({ holds }: { readonly holds: NodeOverview['holds'] }) {
  return (
    <ul class="jobs">
      {holds.map(({ semaphore, slot, token, expiresAt }) => (
        <li key={`${semaphore} ${slot}`}>
          <SemaphoreLink name={semaphore} />{' '}
          <span class="second">
            slot {slot}, token {token}, <Countdown until={expiresAt} /> left
          </span>
        </li>
      ))}
    </ul>
  );
}

function Jobs({ jobs }: { readonly jobs: NodeOverview['jobs'] }) {
  return (
    <ul class="jobs">
      {jobs.map(({ job, semaphore, schedule }) => (
        <li key={`${job} ${semaphore}`}>
          <code>{job}</code> <span class="second">{schedule && <Schedule schedule={schedule} />}</span>
        </li>
      ))}
    </ul>
  );
}
