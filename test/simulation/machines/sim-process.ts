import type { CancelTimer, NodeClock } from '../../../lib/core/async/node-clock.js';
import type { Happening, VirtualTime } from '../world/virtual-time.js';

/** How a machine's clocks differ from true time. */
export interface ClockFaults {
  /** How fast they go: 1 is right. */
  readonly rate: number;
  /** ms of the monotonic clock at the start of the world. */
  readonly monotonic: number;
  /** ms that the wall clock is off. */
  readonly wall: number;
}

export const EPOCH = 1_790_000_000_000;

interface Timer {
  readonly action: () => void;
  /** By the monotonic clock. */
  readonly due: number;
  happening?: Happening;
}

/**
 * One process on a machine of its own: its clocks, its timers, and what befalls it.
 *
 * Frozen (SIGSTOP): nothing runs, clocks go on. Asleep (the machine): nothing runs, the monotonic clock and timers stand
 * still, the wall clock goes on. Afterwards the pending I/O callbacks run before any timer, as Node does it.
 */
export class SimProcess implements NodeClock {
  #state: 'running' | 'frozen' | 'asleep' | 'crashed' = 'running';
  #timers = new Set<Timer>();
  #waitingIo: (() => void)[] = [];
  #waitingTimers: Timer[] = [];
  #slept = 0;
  #asleepSince = 0;
  #wallJumps = 0;
  /** Since when it runs without a break and its clocks go evenly, in true time. */
  undisturbedSince: number;
  /** When its wall clock was last set back, in true time. */
  setBackAt = -Infinity;

  constructor(
    private readonly time: VirtualTime,
    private readonly faults: ClockFaults,
  ) {
    this.undisturbedSince = time.now;
  }

  get isRunning(): boolean {
    return this.#state === 'running';
  }

  get isCrashed(): boolean {
    return this.#state === 'crashed';
  }

  get timers(): number {
    return this.#timers.size;
  }

  monotonic(): number {
    const sleeping = this.#slept + (this.#state === 'asleep' ? this.time.now - this.#asleepSince : 0);
    return this.faults.monotonic + (this.time.now - sleeping) * this.faults.rate;
  }

  wall(): number {
    return Math.floor(EPOCH + this.faults.wall + this.#wallJumps + this.time.now * this.faults.rate);
  }

  /** As Node's setTimeout: whole ms, cut off, at least one. */
  schedule(action: () => void, delay: number): CancelTimer {
    const whole = Math.max(1, Math.trunc(delay));
    const timer: Timer = { action, due: this.monotonic() + whole };
    this.#timers.add(timer);
    this.#plan(timer, whole);
    return () => {
      this.#timers.delete(timer);
      if (timer.happening) timer.happening.action = undefined;
    };
  }

  /** At the same moment, after everything that is planned for it. */
  nextTurn(action: () => void): void {
    this.time.after(0, () => this.io(action));
  }

  /** Delivers what came from outside: now, or when the process runs again, or never. */
  io(callback: () => void): void {
    if (this.#state === 'running') callback();
    else if (this.#state !== 'crashed') this.#waitingIo.push(callback);
  }

  freeze(): void {
    if (this.#state === 'running') this.#state = 'frozen';
  }

  sleep(): void {
    if (this.#state !== 'running') return;
    this.#state = 'asleep';
    this.#asleepSince = this.time.now;
  }

  resume(): void {
    if (this.#state === 'running' || this.#state === 'crashed') return;
    if (this.#state === 'asleep') this.#slept += this.time.now - this.#asleepSince;
    this.#state = 'running';
    this.undisturbedSince = this.time.now;
    for (const callback of this.#waitingIo.splice(0)) this.time.after(0, () => this.io(callback));
    for (const timer of this.#waitingTimers.splice(0)) this.#plan(timer, 0);
  }

  /** kill -9 */
  crash(): void {
    this.#state = 'crashed';
    for (const timer of this.#timers) if (timer.happening) timer.happening.action = undefined;
    this.#timers.clear();
  }

  jumpWall(by: number): void {
    this.#wallJumps += by;
    if (by < 0) this.setBackAt = this.time.now;
    this.undisturbedSince = this.time.now;
  }

  #plan(timer: Timer, delay: number): void {
    timer.happening = this.time.after(delay / this.faults.rate, () => this.#fire(timer));
  }

  #fire(timer: Timer): void {
    if (!this.#timers.has(timer)) return;
    if (this.#state !== 'running') return void this.#waitingTimers.push(timer);
    const early = timer.due - this.monotonic();
    if (early > 0.001) return this.#plan(timer, early);
    this.#timers.delete(timer);
    timer.action();
  }
}
