import { useState } from 'preact/hooks';
import type { LeftAlone } from '../api/answers.js';
import { call } from '../api/call.js';
import { BatchProgress } from '../batches/batch-progress.js';
import { announceProgress, useBatches } from '../batches/use-batches.js';
import { type Action, ActionDialog } from '../forms/action-dialog.js';
import { Field } from '../parts/field.js';
import { Icon } from '../parts/icon.js';
import { NotAllowed } from '../parts/page-state.js';
import { whyNot } from '../live/session.js';
import { LeftList } from './left-list.js';
import { WINDOW_BATCH } from './window-panel.js';

/** Starts a window. */
export function StartPanel({ onChange }: { readonly onChange: () => Promise<void> }) {
  const [window, setWindow] = useState('');
  const [names, setNames] = useState('');
  const [action, setAction] = useState<Action>();
  const [left, setLeft] = useState<readonly LeftAlone[]>([]);
  const { progress, run, stop } = useBatches();
  const notAllowed = whyNot('operate');
  const isDisabled = notAllowed !== undefined;
  const start = async (reason: string | undefined) => {
    const body = { window, names: [names || '.*'], ...(reason && { reason }), limit: WINDOW_BATCH };
    const found = new Map<string, LeftAlone>();
    const ended = await run(async (signal) => {
      const result = await call('startMaintenance', { body }, { signal });
      for (const one of result.left) found.set(one.name, one);
      return { ...result, done: result.paused };
    });
    setLeft([...found.values()]);
    announceProgress(ended, 'paused');
    if (ended.fault === undefined) setWindow('');
    await onChange();
  };
  const ask = (): Action => ({
    title: `Start ${window}`,
    explanation:
      `No new run of ${names === '' ? 'all semaphores' : `semaphores that match ${names}`} starts until this window ends. ` +
      'Runs that have started may finish. The window shows what is still held.',
    verb: 'Start',
    isDangerous: true,
    // Not awaited: the page shows the progress, and an open dialog would hide it.
    run: (reason) => Promise.resolve(void start(reason)),
  });
  return (
    <>
      <section class="panel" aria-labelledby="start-title">
        <h2 id="start-title">Start a window</h2>
        <div class="columns">
          <Field
            label="Name of the window"
            value={window}
            onValue={setWindow}
            hint="As your colleagues know it: “database moves”."
            input={{ maxLength: 200, disabled: isDisabled }}
          />
          <Field
            label="What to pause"
            value={names}
            onValue={setNames}
            hint="RE2; must match the whole name. Empty: all semaphores."
            input={{ class: 'code', placeholder: '.*', disabled: isDisabled }}
          />
        </div>
        <NotAllowed reason={notAllowed} />
        {!isDisabled && (
          <div class="buttons">
            <button
              type="button"
              class="primary"
              disabled={window.trim() === '' || (progress?.isRunning ?? false)}
              onClick={() => setAction(ask())}
            >
              <Icon name="pause" /> Start…
            </button>
          </div>
        )}
      </section>
      {progress && <BatchProgress progress={progress} verb="paused" onStop={stop} />}
      {left.length > 0 && (
        <section class="panel">
          <LeftList left={left} title="Left alone; the end of the window does not resume them" />
        </section>
      )}
      {action && <ActionDialog action={action} onClose={() => setAction(undefined)} />}
    </>
  );
}
