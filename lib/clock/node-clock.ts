/**
 * The node's own clocks and timers, in one place so that tests can put others in their stead: nothing else in this
 * package reads a clock or sets a timer by itself.
 */
export interface NodeClock {
  /** ms since some fixed moment; never goes back, but may stand still while the machine sleeps. */
  monotonic(): number;
  /** ms since the epoch by the machine's wall clock; may be wrong and may jump. Only differences of it are used. */
  wall(): number;
  /** Calls `action` once after `delay` ms. The timer never keeps the process alive. */
  schedule(action: () => void, delay: number): CancelTimer;
}

export type CancelTimer = () => void;

/** The longest delay that setTimeout takes; longer ones would fire at once. */
const LONGEST_TIMER = 2 ** 31 - 1;

export const systemClock: NodeClock = {
  monotonic: () => performance.now(),
  wall: () => Date.now(),
  schedule(action, delay) {
    const timer = setTimeout(action, Math.min(Math.max(delay, 0), LONGEST_TIMER));
    timer.unref();
    return () => clearTimeout(timer);
  },
};
