import { pathOf } from '../api/call.js';
import { anyChangeOrRun } from '../live/concerns.js';
import { useLive } from '../live/use-live.js';
import { Loaded } from '../parts/page-state.js';
import { BulkPanel } from './bulk-panel.js';
import { StartPanel } from './start-panel.js';
import { WindowPanel } from './window-panel.js';

/** Maintenance windows with what they still wait for, the start of a window, and pauses without one. */
export function MaintenancePage() {
  const query = useLive(pathOf('maintenance'), anyChangeOrRun);
  const reload = () => query.load();
  return (
    <>
      <p class="lead">
        A window pauses many semaphores under a name, and its end resumes exactly these. Runs that have started may
        finish.
      </p>
      <Loaded query={query}>
        {({ windows }) => windows.map((each) => <WindowPanel key={each.window} window={each} onChange={reload} />)}
      </Loaded>
      <StartPanel onChange={reload} />
      <BulkPanel />
    </>
  );
}
