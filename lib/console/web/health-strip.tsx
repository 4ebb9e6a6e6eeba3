import type { Health, OpenWindowAnswer } from './api/answers.js';
import { healthLine, lacksMembers } from './health/health-line.js';
import { anyEdit } from './live/concerns.js';
import { health, healthState } from './live/health.js';
import { RARELY } from './live/live-query.js';
import { useLive } from './live/use-live.js';
import { Icon } from './parts/icon.js';
import { DateTime } from './parts/time.js';
import { Unread } from './parts/unread.js';
import { hrefOf } from './router.js';

/**
 * Shows the health on every page. Both regions are always in the document, because screen readers don't read text that
 * appears together with its region. Times don't tick, because screen readers read a changed alert again. The line of
 * facts is outside of both, because its numbers change all the time.
 */
export function HealthStrip() {
  const report = health.data.value;
  const state = healthState.value;
  return (
    <>
      <div role="alert">
        {state === 'offline' && <Offline report={report} />}
        {state === 'down' && report && <Down report={report} />}
      </div>
      <div role="status">{state === 'degraded' && report && <Degraded report={report} />}</div>
      {(state === 'healthy' || state === 'degraded') && report && <Facts report={report} />}
      <OpenWindows />
    </>
  );
}

/** The open maintenance windows: on every page, because what they paused is paused on purpose. */
function OpenWindows() {
  const query = useLive<{ windows: readonly OpenWindowAnswer[] }>('open-windows', anyEdit, RARELY);
  // While the store is lost, the line above says so.
  if (query.error.value && healthState.value === 'healthy') {
    return (
      <Unread query={query}>
        The <a href={hrefOf(['operate'])}>maintenance windows</a> can’t be read now.
      </Unread>
    );
  }
  const windows = query.data.value?.windows ?? [];
  if (windows.length === 0) return null;
  return (
    <section class="health-strip warning" aria-label="Open maintenance windows">
      {windows.map(({ window, by, since, reason }) => (
        <p key={window}>
          <span class="excerpt" title={[window, by, reason].filter((each) => each !== undefined).join(', ')}>
            <Icon name="pause" />
            <a href={hrefOf(['operate'])}>Maintenance</a> <strong>{window}</strong>, by {by} since{' '}
            <DateTime at={since} />
            {reason !== undefined && `: “${reason}”`}
          </span>
        </p>
      ))}
    </section>
  );
}

function Facts({ report }: { readonly report: Health }) {
  const isShort = lacksMembers(report.store);
  return (
    <p class={isShort ? 'health-line short' : 'health-line'}>
      <a href={hrefOf(['health'])}>
        {isShort && <Icon name="warning" />}
        {healthLine(report)}
      </a>
    </p>
  );
}

function Offline({ report }: { readonly report: Health | undefined }) {
  return (
    <div class="health-strip bad">
      <p>
        <Icon name="warning" />
        <strong>No node answers.</strong>
        {report ? <Age staleSince={report.staleSince ?? report.now} /> : ' Nothing is known.'}
      </p>
    </div>
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
