/**
 * The node's own clocks and timers, in one place so that tests can replace them: nothing else in this package reads a
 * clock or sets a timer by itself.
 */
export interface NodeClock {
  /** ms since some fixed moment; never goes back, but may stand still while the machine sleeps. */
  monotonic(): number;
  /** ms since the epoch by the machine's wall clock; may be wrong and may jump. Only differences of it are used. */
  wall(): number;
  /**
   * Calls `action` once after `delay` ms.
   *
   * @param isAwaited a call waits for it, so that the process stays alive until then; a background timer must not keep
   *   a process from ending
   */
  schedule(action: () => void, delay: number, isAwaited?: boolean): CancelTimer;
  /** Calls `action` in the next turn of the event loop: everything that is due before it runs first. */
  nextTurn(action: () => void): void;
}

export type CancelTimer = () => void;

/** ms; the longest delay that setTimeout takes (24.8 days): longer ones would fire at once. */
const LONGEST_TIMER = 2 ** 31 - 1;

export const systemClock: NodeClock = {
  monotonic: () => performance.now(),
  wall: () => Date.now(),
  schedule(action, delay, isAwaited = false) {
    if (delay > LONGEST_TIMER) return scheduleInSteps(action, delay, isAwaited);
    const timer = setTimeout(action, Math.max(delay, 0));
    if (!isAwaited) timer.unref();
    return () => clearTimeout(timer);
  },
  nextTurn: (action) => void setImmediate(action),
};

function scheduleInSteps(action: () => void, delay: number, isAwaited: boolean): CancelTimer {
  const goOn = () => {
    cancel = systemClock.schedule(action, delay - LONGEST_TIMER, isAwaited);
  };
  let cancel = systemClock.schedule(goOn, LONGEST_TIMER, isAwaited);
  return () => cancel();
}
