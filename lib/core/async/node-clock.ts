/**
 * The node's own clocks and timers. Everything that decides about permits uses only this interface, so that tests can
 * replace time. The console, the command line and the stores' clients use Node's clocks and timers directly.
 */
export interface NodeClock {
  /** ms since a fixed moment. Never goes back, but may stop while the machine sleeps. */
  monotonic(): number;
  /**
   * ms since the epoch by the machine's wall clock, which may be wrong and may jump. Permits depend only on the
   * difference of two readings.
   */
  wall(): number;
  /**
   * Calls `action` once after `delay` ms.
   *
   * @param isAwaited whether a call waits for it; then the process stays alive until the action runs. Default false: a
   *   timer in the background must not keep a process from ending
   * @returns a function that cancels the timer
   */
  schedule(action: () => void, delay: number, isAwaited?: boolean): CancelTimer;
  /** Calls `action` in the next turn of the event loop: everything that is due before it runs first. */
  nextTurn(action: () => void): void;
}

export type CancelTimer = () => void;

/** ms; the longest delay that setTimeout supports (24.8 days). A longer one would fire at once. */
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
