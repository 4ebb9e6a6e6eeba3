/**
 * Timers that the package began since; those of the test runner don't count. Not by `async_hooks`: after a hook for the end of
 * resources, Node tracks each promise of the process, and all later tests take several times as long.
 */
export class StartedTimers {
  readonly going = new Set<NodeJS.Timeout>();
  readonly #setTimeout = globalThis.setTimeout;
  readonly #clearTimeout = globalThis.clearTimeout;

  constructor() {
    const begin = (action: () => void, delay?: number): NodeJS.Timeout => {
      const timer = this.#setTimeout(() => {
        this.going.delete(timer);
        action();
      }, delay);
      if (isOurs()) this.going.add(timer);
      return timer;
    };
    globalThis.setTimeout = begin as typeof setTimeout;
    globalThis.clearTimeout = (timer) => {
      this.going.delete(timer as NodeJS.Timeout);
      this.#clearTimeout(timer);
    };
  }

  async left(): Promise<number> {
    // What the last calls left to the next turn of the event loop.
    for (let turns = 0; turns < 2; turns++) await new Promise((resolve) => setImmediate(resolve));
    globalThis.setTimeout = this.#setTimeout;
    globalThis.clearTimeout = this.#clearTimeout;
    return this.going.size;
  }
}

/** By the calls that led here: all of its timers come from its clock. */
function isOurs(): boolean {
  return new Error().stack!.includes('/lib/core/async/node-clock');
}
