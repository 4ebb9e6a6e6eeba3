import type { Health } from './api/answers.js';
import { health } from './live/health.js';
import { Icon } from './parts/icon.js';
import { DateTime } from './parts/time.js';

/**
 * On every page: nothing while all is well. Both regions are always there, since what is put into a region that appears
 * with it is not read out; its times stand still, since what moves on in an alert is read out again each second.
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
  if (staleSince === undefined) return <> Nothing is known of the semaphores.</>;
  return (
    <>
      {' '}
      What is shown is as of <DateTime at={staleSince} />.
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
