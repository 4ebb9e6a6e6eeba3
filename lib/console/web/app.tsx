import { useEffect } from 'preact/hooks';
import { whenUnauthorized } from './api/call.js';
import { startClock } from './live/cluster-time.js';
import { connect } from './live/connection.js';
import { health } from './live/health.js';
import { startTab } from './live/tab.js';
import { Brand } from './parts/brand.js';
import { Login } from './login.js';
import { Notices } from './parts/notices.js';
import { Page } from './pages.js';
import { followOtherTabs, leave, resumeSession, signIn, userOf } from './live/session.js';
import { ShortcutsDialog } from './shortcuts/shortcuts-dialog.js';
import { startShortcuts } from './shortcuts/shortcuts.js';
import { Header } from './header.js';

const ENDED = 'Your session has ended, or your token is not accepted any more. Sign in again.';

export function App() {
  useEffect(() => {
    whenUnauthorized(() => {
      if (signIn.value.state === 'in') leave(ENDED, true);
    });
    followOtherTabs();
    void resumeSession();
  }, []);
  return (
    <>
      <Inside />
      <Notices />
    </>
  );
}

function Inside() {
  switch (signIn.value.state) {
    case 'asking':
      return <Arriving />;
    case 'out':
      return <Login message={signIn.value.message} mayResume={signIn.value.mayResume} />;
    case 'in':
      return <Console key={userOf(signIn.value.session)} />;
  }
}

/** The page before the first answer. */
function Arriving() {
  return (
    <main class="login">
      <Brand />
      <p class="loading" role="status">
        Loading…
      </p>
    </main>
  );
}

/** The console of a signed-in user. Its listeners and timers end at the sign-out. */
function Console() {
  useEffect(() => {
    const stop = [startClock(), connect(), health.start(), startTab(), startShortcuts()];
    return () => stop.forEach((end) => end());
  }, []);
  return (
    <>
      <Header />
      <Page />
      <ShortcutsDialog />
    </>
  );
}
