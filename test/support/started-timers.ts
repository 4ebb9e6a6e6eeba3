import { createHook } from 'node:async_hooks';

/** Timers that the package began since; those of the test runner don't count. */
export class StartedTimers {
  readonly going = new Set<number>();
  readonly #hook = createHook({
    init: (id, type) => void (type === 'Timeout' && isOurs() && this.going.add(id)),
    destroy: (id) => void this.going.delete(id),
  }).enable();

  async left(): Promise<number> {
    // Node reports the end of a timer in the next turn of its loop.
    for (let turns = 0; turns < 2; turns++) await new Promise((resolve) => setImmediate(resolve));
    this.#hook.disable();
    return this.going.size;
  }
}

/** By the calls that led here: all of its timers come from its clock. */
function isOurs(): boolean {
  return new Error().stack!.includes('/lib/async/node-clock');
}
