import { useEffect, useRef } from 'preact/hooks';
import { messageOf } from './api/api-error.js';
import { HealthStrip } from './health-strip.js';
import { connection, isUnreachable } from './live/connection.js';
import { health, isStale } from './live/health.js';
import { Badge } from './parts/badge.js';
import { Brand } from './parts/brand.js';
import { TIMES, type Times, chooseTimes, times } from './parts/format.js';
import { Icon } from './parts/icon.js';
import { announce } from './parts/notices.js';
import { hrefOf, route } from './parts/router.js';
import { signIn, signOut } from './live/session.js';
import { ShortcutsButton } from './shortcuts/shortcuts-dialog.js';
import { type Theme, chooseTheme, nextTheme, theme } from './parts/theme.js';

const PAGES = [
  ['work', 'Work'],
  ['runs', 'Runs'],
  ['nodes', 'Nodes'],
  ['changes', 'Changes'],
  ['operate', 'Operate'],
  ['health', 'Health'],
] as const;

export function Header() {
  const [page = 'work'] = route.value.path;
  // The types of tasks are a view of the work.
  const current = page === 'tasks' ? 'work' : page;
  const nav = useRef<HTMLElement>(null);
  // On a narrow screen the current tab may be out of view.
  useEffect(() => nav.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest' }), [current]);
  return (
    <header class="top">
      <button type="button" class="skip" onClick={() => document.querySelector<HTMLElement>('main h1')?.focus()}>
        Skip to the content
      </button>
      <div class="top-row">
        <Brand />
        <Environment />
        <span class="spacer" />
        <Liveness />
        <TimesSwitch />
        <ShortcutsButton />
        <ThemeSwitch />
        <Who />
      </div>
      <nav aria-label="Pages" ref={nav}>
        {PAGES.map(([path, label]) => (
          <a key={path} href={hrefOf([path])} aria-current={path === current ? 'page' : undefined}>
            {label}
          </a>
        ))}
      </nav>
      <HealthStrip />
    </header>
  );
}

function Environment() {
  const { value } = signIn;
  if (value.state !== 'in' || !value.session.environment) return null;
  return (
    <span class="environment" title="The environment that this console acts on">
      {value.session.environment}
    </span>
  );
}

const LIVENESS = {
  live: ['live', 'Live', 'Changes arrive as they happen.'],
  connecting: ['waiting', 'Connecting', 'The event stream is being opened.'],
  polling: [
    'waiting',
    'Polling',
    'The event stream is interrupted. This page asks every few seconds until it is back.',
  ],
  unreachable: [
    'cut',
    'Offline',
    'No node answers. Trying again every 5 seconds. This page shows the last known data.',
  ],
  stale: ['cut', 'Stale', 'The node answers, but can’t read its store. This page shows the last known data.'],
  idle: ['cut', 'No grants', 'The node answers and the data are current, but nothing is granted.'],
} as const;

/** Faults that stop all grants come before those that only delay the display. */
function liveness(): keyof typeof LIVENESS {
  if (isUnreachable.value) return 'unreachable';
  const report = health.data.value;
  if (report && !report.grants) return isStale.value ? 'stale' : 'idle';
  return connection.value;
}

function Liveness() {
  const [tone, label, title] = LIVENESS[liveness()];
  return (
    <span class={`liveness ${tone}`} role="status" title={title}>
      <span class="label">{label}</span>
    </span>
  );
}

const TIMES_TITLES: Record<Times, string> = {
  relative: 'how long ago or ahead they are',
  local: 'in the time zone of this browser',
  UTC: 'in UTC',
};

function TimesSwitch() {
  return (
    <select
      class="quiet"
      aria-label="Times"
      title={`Times are shown ${TIMES_TITLES[times.value]}`}
      value={times.value}
      onChange={({ currentTarget }) => chooseTimes(currentTarget.value as Times)}
    >
      {TIMES.map((each) => (
        <option key={each}>{each}</option>
      ))}
    </select>
  );
}

const THEME_ICONS = { system: 'screen', light: 'sun', dark: 'moon' } as const satisfies Record<Theme, string>;

function ThemeSwitch() {
  const label = `Theme: ${theme.value}. Switch to ${nextTheme()}.`;
  return (
    <button type="button" class="quiet" aria-label={label} title={label} onClick={() => chooseTheme(nextTheme())}>
      <Icon name={THEME_ICONS[theme.value]} />
    </button>
  );
}

function tellStillIn(error: unknown): void {
  announce(`You are still signed in: ${messageOf(error)}`, { isBad: true });
}

function Who() {
  const { value } = signIn;
  if (value.state !== 'in') return null;
  const { user, role, readOnly, endsAt } = value.session;
  return (
    <span class="who">
      <span class="user">{user}</span>
      <Badge tone="neutral">{readOnly ? 'read-only' : role}</Badge>
      {endsAt !== undefined && (
        <button
          type="button"
          class="quiet"
          aria-label="Sign out"
          title="Sign out"
          onClick={() => void signOut().catch(tellStillIn)}
        >
          <Icon name="leave" />
        </button>
      )}
    </span>
  );
}
