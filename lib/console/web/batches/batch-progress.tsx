import { useLayoutEffect, useRef } from 'preact/hooks';
import { count } from '../parts/format.js';
import type { Progress } from './use-batches.js';

interface BatchProgressProps {
  readonly progress: Progress;
  /** The past participle: "paused", "migrated". */
  readonly verb: string;
  /** The changed thing, in the singular. Default: "semaphore". */
  readonly one?: string;
  readonly onStop: () => void;
}

/**
 * Shows the progress, and each failure by name. Takes the focus, because the button that started the work is disabled.
 */
export function BatchProgress({ progress, verb, one = 'semaphore', onStop }: BatchProgressProps) {
  const panel = useRef<HTMLElement>(null);
  const { done, failed, remaining, isRunning, fault } = progress;
  useLayoutEffect(() => {
    if (isRunning || document.activeElement === document.body) panel.current?.focus();
  }, [isRunning]);
  const isIdle = !isRunning && done + remaining + failed.size === 0 && fault === undefined;
  const total = done + Math.max(remaining, failed.size);
  return (
    <section class="panel progress-panel" aria-label="Progress" data-outcome tabIndex={-1} ref={panel}>
      <progress
        aria-label={`${one.slice(0, 1).toUpperCase()}${one.slice(1)}s ${verb}`}
        max={Math.max(1, total)}
        value={isRunning && total === 0 ? undefined : done}
      />
      <p role="status">
        {isIdle ? `Nothing was ${verb}: there was nothing to do` : `${count(done, one)} ${verb}`}
        {remaining > 0 && `, ${remaining} to go`}
        {failed.size > 0 && `, ${failed.size} failed`}
        {!isRunning && remaining === 0 && failed.size === 0 && fault === undefined && (isIdle ? '.' : '. Done.')}
        {!isRunning &&
          fault === undefined &&
          (remaining > 0 || failed.size > 0) &&
          '. Start again to continue with these.'}
      </p>
      {isRunning && (
        <button type="button" onClick={onStop}>
          Stop after this batch
        </button>
      )}
      {fault !== undefined && (
        <p class="fault" role="alert">
          {done === 0 ? `Nothing was ${verb}: ${fault}` : `It stopped: ${fault}. Start again to continue.`}
        </p>
      )}
      {failed.size > 0 && (
        <ul class="failures" aria-label="Failures">
          {[...failed].map(([name, error]) => (
            <li key={name}>
              <strong>{name}</strong>: {error}
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
