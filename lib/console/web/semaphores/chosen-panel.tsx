import { useState } from 'preact/hooks';
import { BatchProgress } from '../batches/batch-progress.js';
import { announceProgress, useBatches } from '../batches/use-batches.js';
import { type Action, ActionDialog } from '../forms/action-dialog.js';
import { count } from '../parts/format.js';
import { Icon } from '../parts/icon.js';
import { DONE, type Verb, changeNext, chosenAction, isDue } from './change-chosen.js';
import type { Choice } from './choice.js';

interface ChosenPanelProps {
  readonly choice: Choice;
  readonly onChange: () => Promise<void>;
}

/** Pauses or resumes the chosen rows of the list. It stays in view while the list is scrolled. */
export function ChosenPanel({ choice: { chosen, chooseAll }, onChange }: ChosenPanelProps) {
  const [action, setAction] = useState<Action>();
  const [verb, setVerb] = useState<Verb>('pause');
  const { progress, run, stop, clear } = useBatches();
  const isBusy = progress?.isRunning ?? false;
  const start = async (change: Verb, names: readonly string[], reason: string | undefined) => {
    setVerb(change);
    const ended = await run(changeNext(change, names, reason));
    announceProgress(ended, DONE[change]);
    chooseAll(false);
    await onChange();
  };
  const ask = (change: Verb) =>
    setAction(() => chosenAction(change, chosen, (names, reason) => void start(change, names, reason)));
  const button = (change: Verb, label: string) => (
    <button type="button" disabled={isBusy || !chosen.some((each) => isDue(each, change))} onClick={() => ask(change)}>
      <Icon name={change === 'pause' ? 'pause' : 'play'} /> {label}
    </button>
  );
  return (
    <>
      {progress && (
        <div class="results">
          <BatchProgress progress={progress} verb={DONE[verb]} onStop={stop} />
          {!isBusy && (
            <button type="button" class="small" onClick={clear}>
              Close the result
            </button>
          )}
        </div>
      )}
      {chosen.length > 0 && (
        <section class="panel chosen" aria-label="Chosen semaphores">
          <span role="status">{count(chosen.length, 'semaphore')} chosen</span>
          <div class="buttons">
            {button('pause', 'Pause…')}
            {button('resume', 'Resume…')}
            <button type="button" class="quiet" onClick={() => chooseAll(false)}>
              Clear
            </button>
          </div>
        </section>
      )}
      {action && <ActionDialog action={action} onClose={() => setAction(undefined)} />}
    </>
  );
}
