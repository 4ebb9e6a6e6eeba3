import type { NodeClock } from './node-clock.js';

interface PauseOptions {
  /** Ends the pause early. The promise then resolves; it never rejects. */
  readonly signal?: AbortSignal;
  /** Whether a call waits for it, so that the process stays alive. Default true; false in the background. */
  readonly isAwaited?: boolean;
}

/** Resolves after `delay` ms by the node's clock, or as soon as the signal aborts. */
export function pause(clock: NodeClock, delay: number, { signal, isAwaited = true }: PauseOptions = {}): Promise<void> {
  if (signal?.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const end = () => {
      cancel();
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const cancel = clock.schedule(end, delay, isAwaited);
    signal?.addEventListener('abort', end);
  });
}
