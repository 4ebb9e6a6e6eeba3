import type { Health } from './api/answers.js';
import { health } from './live/health.js';
import { Icon } from './parts/icon.js';
import { DateTime } from './parts/time.js';

/**
 * Shows the health on every page; empty while nothing is wrong. Both regions are always in the document, because screen
 * readers don't read text that appears together with its region. Times don't tick, because screen readers read a
 * changed alert again.
 */
export function HealthStrip() {
  const report = health.data.value;
  return (
    <>
      <div role="alert">{report && !report.grants && <Down report={report} />}</div>
      <div role="status">{report?.status === 'degraded' && <Degraded report={report} />}</div>
    </>
  );
}

function Down({ report: { faults, isStale, staleSince } }: { readonly report: Health }) {
  const [fault] = faults;
  if (!fault) return null;
  return (
    <div class="health-strip bad">
      <p>
        <Icon name="warning" />
        <strong>Nothing is granted</strong> since <DateTime at={fault.since} />: {fault.sentence}.
        {isStale && <Age staleSince={staleSince} />}
      </p>
    </div>
  );
}

function Age({ staleSince }: { readonly staleSince: number | undefined }) {
  if (staleSince === undefined) return <> Nothing is known about the semaphores.</>;
  return (
    <>
      {' '}
      The data are as of <DateTime at={staleSince} />.
    </>
  );
}

function Degraded({ report: { faults } }: { readonly report: Health }) {
  return (
    <div class="health-strip warning">
      {faults.map(({ code, since, sentence }) => (
        <p key={code}>
          <Icon name="warning" />
          <strong>Permits are granted</strong>, but since <DateTime at={since} /> {sentence}.
        </p>
      ))}
    </div>
  );
}
