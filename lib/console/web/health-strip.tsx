import type { ComponentChildren } from 'preact';
import { type StalePart, stalePart } from '../../core/context/stale.js';
import { FAULT_TITLES } from '../../operate/insight/fault-titles.js';
import type { Health } from './api/answers.js';
import { pathOf } from './api/call.js';
import { healthLine, lacksMembers } from './health/health-line.js';
import { anyEdit } from './live/concerns.js';
import { health, healthState } from './live/health.js';
import { RARELY } from './live/live-query.js';
import { useLive } from './live/use-live.js';
import { count } from './parts/format.js';
import { Icon, type IconName } from './parts/icon.js';
import { DateTime } from './parts/time.js';
import { Unread } from './parts/unread.js';
import { hrefOf } from './parts/router.js';

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
  const query = useLive(pathOf('openWindows'), anyEdit, RARELY);
  // While the store is lost, the line above says so.
  if (query.error.value && healthState.value === 'healthy') {
    return (
      <Unread query={query}>
        The <a href={hrefOf(['operate'])}>maintenance windows</a> can’t be read now.
      </Unread>
    );
  }
  const windows = query.data.value?.windows ?? [];
  const [first] = windows;
  if (!first) return null;
  return (
    <section aria-label="Open maintenance windows">
      <Strip
        tone="warning"
        icon="pause"
        essence={`Maintenance: ${windows.length === 1 ? first.window : `${count(windows.length, 'window')} open`}`}
      >
        {windows.map(({ window, by, since, reason }) => (
          <p key={window}>
            <a href={hrefOf(['operate'])}>Maintenance</a> <strong>{window}</strong>, by {by} since{' '}
            <DateTime at={since} />
            {reason !== undefined && `: “${reason}”`}
          </p>
        ))}
      </Strip>
    </section>
  );
}

interface StripProps {
  readonly tone: 'bad' | 'warning';
  readonly icon?: IconName;
  /** The line that always shows. It must fit on a phone. */
  readonly essence: string;
  /** All of it. */
  readonly children: ComponentChildren;
}

/** A line on every page, which opens: sentences with names and advice would take a fifth of a phone. */
function Strip({ tone, icon = 'warning', essence, children }: StripProps) {
  return (
    <details class={`health-strip ${tone}`}>
      <summary>
        <Icon name={icon} />
        <strong title={essence}>{essence}</strong>
      </summary>
      {children}
    </details>
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
        <Icon name="warning" /> <strong>No node answers.</strong>
        {report ? <Age of={{ since: report.now, ...stalePart(report, 'records') }} /> : ' Nothing is known.'}
      </p>
    </div>
  );
}

function Down({ report }: { readonly report: Health }) {
  const [fault] = report.faults;
  if (!fault) return null;
  const semaphores = stalePart(report, 'records');
  return (
    <Strip tone="bad" essence={`Nothing is granted: ${FAULT_TITLES[fault.code]}`}>
      <p>
        Since <DateTime at={fault.since} />: {fault.sentence}.{semaphores && <Age of={semaphores} />}
      </p>
    </Strip>
  );
}

function Age({ of: { since } }: { readonly of: Pick<StalePart, 'since'> }) {
  if (since === undefined) return <> Nothing is known about the semaphores.</>;
  return (
    <>
      {' '}
      The data are as of <DateTime at={since} />.
    </>
  );
}

function Degraded({ report: { faults } }: { readonly report: Health }) {
  const [first, ...others] = faults;
  if (!first) return null;
  const title = FAULT_TITLES[first.code];
  const more = others.length > 0 ? `, and ${count(others.length, 'more fault')}` : '';
  return (
    <Strip tone="warning" essence={`${title[0]!.toUpperCase()}${title.slice(1)}${more}`}>
      {faults.map(({ code, since, sentence }) => (
        <p key={code}>
          Permits are granted, but since <DateTime at={since} /> {sentence}.
        </p>
      ))}
    </Strip>
  );
}
