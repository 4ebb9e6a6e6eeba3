import type { NodeClock } from './node-clock.js';

interface PauseOptions {
  /** Ends the pause early; an ended pause resolves, it never rejects. */
  readonly signal?: AbortSignal;
  /** False for pauses of the background, which keep no process alive. */
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
