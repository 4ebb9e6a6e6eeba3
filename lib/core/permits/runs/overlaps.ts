import type { NodeClock } from '../../async/node-clock.js';

interface Waiter {
  readonly key: string;
  readonly settle: (hasBegun: boolean) => void;
}

/** Counts the runs of each job in this process, and lets a run wait until the former run of its job has ended. */
export class Overlaps {
  readonly #running = new Map<string, number>();
  /** First in, first out. */
  readonly #waiting = new Set<Waiter>();
  #whenIdle: (() => void)[] = [];
  #isClosed = false;

  constructor(private readonly nodeClock: NodeClock) {}

  /** Whether {@link close} was called: no run can wait any more. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  isRunning(key: string): boolean {
    return this.#running.has(key);
  }

  /** Counts a run as begun. Synchronous, so that two calls in one turn of the event loop can't both begin. */
  begin(key: string): void {
    this.#running.set(key, (this.#running.get(key) ?? 0) + 1);
  }

  /**
   * Waits until the present runs of the job have ended, then begins the next run.
   *
   * @param patience ms
   * @returns whether the run has begun
   */
  async waitForFormer(key: string, patience: number): Promise<boolean> {
    return patience > 0 && !this.#isClosed && this.#wait(key, patience);
  }

  /**
   * Ends a run. The first waiting run of the job begins in the same turn of the event loop, before any other call can.
   */
  end(key: string): void {
    const left = this.#running.get(key)! - 1;
    if (left > 0) return void this.#running.set(key, left);
    this.#running.delete(key);
    const next = [...this.#waiting].find((waiter) => waiter.key === key);
    if (next) {
      this.begin(key);
      next.settle(true);
    }
    if (this.#running.size === 0) for (const resolve of this.#whenIdle.splice(0)) resolve();
  }

  /** Resolves when all runs have ended. */
  async idle(): Promise<void> {
    if (this.#running.size > 0) await new Promise<void>((resolve) => this.#whenIdle.push(resolve));
  }

  /** Ends all waiting, because this node shuts down. */
  close(): void {
    this.#isClosed = true;
    for (const { settle } of this.#waiting) settle(false);
  }

  #wait(key: string, patience: number): Promise<boolean> {
    return new Promise((resolve) => {
      const settle = (hasBegun: boolean) => {
        cancel();
        this.#waiting.delete(waiter);
        resolve(hasBegun);
      };
      const waiter = { key, settle };
      const cancel = this.nodeClock.schedule(() => settle(false), patience, true);
      this.#waiting.add(waiter);
    });
  }
}
