import { useId, useState } from 'preact/hooks';
import type { LeftAlone, WindowAnswer } from '../api/answers.js';
import { call } from '../api/call.js';
import { BatchProgress } from '../batches/batch-progress.js';
import { type Batch, announceProgress, useBatches } from '../batches/use-batches.js';
import { type Action, ActionDialog } from '../forms/action-dialog.js';
import { Badge } from '../parts/badge.js';
import { count } from '../parts/format.js';
import { SemaphoreLink } from '../parts/semaphore-link.js';
import { DateTime, Distance } from '../parts/time.js';
import { whyNot } from '../live/session.js';
import { LeftList } from './left-list.js';

/** Semaphores per call. */
export const WINDOW_BATCH = 500;

interface WindowPanelProps {
  readonly window: WindowAnswer;
  readonly onChange: () => Promise<void>;
}

/** One window: since when, by whom, why, what is still held, and its end. */
export function WindowPanel({ window, onChange }: WindowPanelProps) {
  const { by, since, reason, phase, patterns, paused, permits, isQuiet, sentence } = window;
  const { action, setAction, progress, left, verb, stop, end, again } = useWindow(window, onChange);
  const isBusy = progress?.isRunning ?? false;
  const id = useId();
  return (
    <section class={`panel window ${isQuiet ? 'quiet' : 'warning'}`} aria-labelledby={id}>
      <h2 id={id}>
        {window.window} <Badge tone={isQuiet ? 'good' : 'warning'}>{phase}</Badge>
      </h2>
      <p>
        {by}, <DateTime at={since} /> (<Distance at={since} />){reason !== undefined && `: “${reason}”`}
      </p>
      <p class="countdown-of-permits">
        <strong class="number">{permits.toLocaleString()}</strong> {permits === 1 ? 'permit' : 'permits'} still held
      </p>
      <p role="status">{sentence}</p>
      <Held window={window} />
      <p class="second">
        {count(paused, 'semaphore')} paused, by <code>{patterns.join(' ')}</code>
      </p>
      <LeftList left={window.left} title="Changed since; the end leaves them alone" />
      {progress && <BatchProgress progress={progress} verb={verb} onStop={stop} />}
      <LeftList left={left} title="Left alone" />
      {whyNot('operate') === undefined && (
        <div class="buttons">
          {(phase === 'starting' || (phase === 'on' && window.due.length > 0)) && (
            <button type="button" disabled={isBusy} onClick={() => void again()}>
              {phase === 'starting' ? 'Continue the start' : 'Pause these, too'}
            </button>
          )}
          <button type="button" class="primary" disabled={isBusy} onClick={() => setAction(end())}>
            End…
          </button>
        </div>
      )}
      {action && <ActionDialog action={action} onClose={() => setAction(undefined)} />}
    </section>
  );
}

/** The calls of one window, with their progress and what they left alone. */
function useWindow(window: WindowAnswer, onChange: () => Promise<void>) {
  const [action, setAction] = useState<Action>();
  const [left, setLeft] = useState<readonly LeftAlone[]>([]);
  const [verb, setVerb] = useState('resumed');
  const { progress, run, stop } = useBatches();
  const each = async (
    done: string,
    next: (signal: AbortSignal) => Promise<Batch & { readonly left: readonly LeftAlone[] }>,
  ) => {
    setVerb(done);
    const found = new Map<string, LeftAlone>();
    const ended = await run(async (signal) => {
      const batch = await next(signal);
      for (const one of batch.left) found.set(one.name, one);
      return batch;
    });
    setLeft([...found.values()]);
    announceProgress(ended, done);
    await onChange();
  };
  const again = () => {
    const { window: name, patterns: names, reason } = window;
    const body = { window: name, names, ...(reason && { reason }), limit: WINDOW_BATCH };
    return each('paused', async (signal) => {
      const start = await call('startMaintenance', { body }, { signal });
      return { ...start, done: start.paused };
    });
  };
  const end = (): Action => ({
    title: `End ${window.window}`,
    explanation:
      `Resumes ${count(window.paused, 'semaphore')} that this window paused and that has not changed since. ` +
      'What another window wants paused stays paused.',
    verb: 'End',
    // Not awaited: the page shows the progress, and an open dialog would hide it.
    run: (reason) => {
      const sent = { params: { window: window.window }, body: { ...(reason && { reason }), limit: WINDOW_BATCH } };
      void each('resumed', async (signal) => {
        const end = await call('endMaintenance', sent, { signal });
        return { ...end, done: end.resumed };
      });
      return Promise.resolve(undefined);
    },
  });
  return { action, setAction, progress, left, verb, stop, end, again };
}

/** Maximum number of listed names. The others are counted. */
const MOST_SHOWN = 20;

function Held({ window: { held, running, notPaused } }: Pick<WindowPanelProps, 'window'>) {
  return (
    <>
      {held.length > 0 && (
        <ul class="changes" aria-label="Still held">
          {held.slice(0, MOST_SHOWN).map(({ semaphore, permits }) => (
            <li key={semaphore}>
              <SemaphoreLink name={semaphore} /> {permits > 1 && count(permits, 'permit')}
            </li>
          ))}
          {held.length > MOST_SHOWN && <li>and more</li>}
        </ul>
      )}
      {notPaused > 0 && (
        <>
          <p>Not paused: defined or resumed since, or without a definition:</p>
          <ul class="changes" aria-label="Not paused">
            {running.slice(0, MOST_SHOWN).map((name) => (
              <li key={name}>
                <SemaphoreLink name={name} />
              </li>
            ))}
            {notPaused > MOST_SHOWN && <li>and {notPaused - MOST_SHOWN} more</li>}
          </ul>
        </>
      )}
    </>
  );
}
