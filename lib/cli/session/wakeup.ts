import { systemClock } from '../../core/async/node-clock.js';
import { pause } from '../../core/async/pause.js';

/** ms for which hints are collected. One look answers all of them. */
const GATHERING = 200;

/** Lets a loop sleep until there is work. */
export class Wakeup {
  #isDue = false;
  #sleep = new AbortController();

  constructor(private readonly interruption: AbortSignal) {}

  /** Ends the current sleep soon. Without a current sleep, shortens the next one. */
  now(): void {
    this.#isDue = true;
    this.#sleep.abort();
  }

  /** Sleeps for `ms`; {@link now} and the interruption end the sleep earlier. */
  async within(ms: number): Promise<void> {
    await this.#pause(Math.min(GATHERING, ms), this.interruption);
    this.#sleep = new AbortController();
    if (!this.#isDue) await this.#pause(ms - GATHERING, AbortSignal.any([this.#sleep.signal, this.interruption]));
    this.#isDue = false;
  }

  /**
   * Waits for `work`.
   *
   * @returns undefined as soon as the command is interrupted, because the outcome no longer matters
   */
  async unlessAborted<T>(work: Promise<T>): Promise<T | undefined> {
    const { interruption } = this;
    const done = new AbortController();
    const aborted = new Promise<undefined>((resolve) => {
      if (interruption.aborted) resolve(undefined);
      interruption.addEventListener('abort', () => resolve(undefined), { signal: done.signal });
    });
    try {
      return await Promise.race([work, aborted]);
    } finally {
      done.abort();
      work.catch(() => undefined);
    }
  }

  async #pause(ms: number, signal: AbortSignal): Promise<void> {
    if (ms > 0) await pause(systemClock, ms, { signal });
  }
}
