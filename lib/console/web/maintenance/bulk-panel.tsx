import { useState } from 'preact/hooks';
import { call } from '../api/call.js';
import { type Action, ActionDialog } from '../forms/action-dialog.js';
import { Field } from '../parts/field.js';
import { Icon } from '../parts/icon.js';
import { BatchProgress } from '../batches/batch-progress.js';
import { BATCH, announceProgress, useBatches } from '../batches/use-batches.js';
import { whyNot } from '../live/session.js';

type Verb = 'pause' | 'resume' | 'reset';
const CALLS = { pause: 'pauseAll', resume: 'resumeAll', reset: 'resetAll' } as const;
const DONE: Record<Verb, string> = { pause: 'paused', resume: 'resumed', reset: 'reset' };
const TITLES: Record<Verb, string> = { pause: 'Pause', resume: 'Resume', reset: 'Reset' };

function explanations(which: string): Record<Verb, string> {
  return {
    pause: `No new run of ${which} starts on any node until it is resumed. Runs that have started may finish.`,
    resume: `Paused semaphores may run again: ${which}.`,
    reset: `Restores the definitions in the code of the answering node, also of removed semaphores: ${which}.`,
  };
}

/** Pauses, resumes or resets many semaphores at once, without a window. */
export function BulkPanel() {
  const [names, setNames] = useState('');
  const [action, setAction] = useState<Action>();
  const [verb, setVerb] = useState<Verb>('pause');
  const { progress, run, stop } = useBatches();
  const start = async (chosen: Verb, reason: string | undefined) => {
    setVerb(chosen);
    const body = { ...(names !== '' && { names }), ...(reason && { reason }), limit: BATCH };
    let bulk: string | undefined;
    const ended = await run(async (signal) => {
      const result = await call(CALLS[chosen], { body: { ...body, ...(bulk && { bulk }) } }, { signal });
      ({ bulk } = result);
      return result;
    });
    announceProgress(ended, DONE[chosen]);
  };
  const which = names === '' ? 'all semaphores' : `all semaphores whose names match ${names}`;
  const ask = (chosen: Verb): Action => ({
    title: `${TITLES[chosen]} ${which}`,
    explanation: explanations(which)[chosen],
    verb: TITLES[chosen],
    isDangerous: chosen === 'pause',
    // Not awaited: the page shows the progress, and an open dialog would hide it.
    run: (reason) => Promise.resolve(void start(chosen, reason)),
  });
  // The panel above says why.
  if (whyNot('operate') !== undefined) return null;
  return (
    <>
      <section class="panel" aria-labelledby="bulk-title">
        <h2 id="bulk-title">Pause, resume or reset without a window</h2>
        <p class="second">A resume here resumes all that matches, also what was paused for other reasons.</p>
        <Field
          label="Names of semaphores"
          value={names}
          onValue={setNames}
          hint="RE2; must match the whole name. Empty: all of them."
          input={{ class: 'code', placeholder: '.*' }}
        />
        <div class="buttons">
          <button type="button" disabled={progress?.isRunning ?? false} onClick={() => setAction(ask('resume'))}>
            <Icon name="play" /> Resume…
          </button>
          <button type="button" disabled={progress?.isRunning ?? false} onClick={() => setAction(ask('pause'))}>
            <Icon name="pause" /> Pause…
          </button>
          {whyNot('define') === undefined && (
            <button type="button" disabled={progress?.isRunning ?? false} onClick={() => setAction(ask('reset'))}>
              Reset to the code…
            </button>
          )}
        </div>
      </section>
      {progress && <BatchProgress progress={progress} verb={DONE[verb]} onStop={stop} />}
      {action && <ActionDialog action={action} onClose={() => setAction(undefined)} />}
    </>
  );
}
