import type { Context } from './context.js';

/** ms between two reports of the same trouble: a page that is open reads every few seconds. */
const QUIET = 600_000;
/** Characters of the first fault that are reported: a text of many faults has a long list of them. */
const LONGEST_FAULT = 300;

/**
 * Counts what a reading of the store left out because it can't be read, and reports it: the first time at once, then at
 * most every ten minutes while it lasts.
 */
export class LeftOut {
  #count = 0;
  #reportedAt = -Infinity;

  /** @param action what was being done, for the event */
  constructor(
    private readonly action: string,
    private readonly context: Context,
  ) {}

  /** Of the latest reading. */
  get count(): number {
    return this.#count;
  }

  /** @param faults what is wrong with each that a reading left out, for people */
  note(faults: readonly string[]): void {
    this.#count = faults.length;
    const now = this.context.nodeClock.monotonic();
    if (faults.length === 0 || now - this.#reportedAt < QUIET) return;
    this.#reportedAt = now;
    const error = new Error(
      `${faults.length} can't be read and were left out: another version wrote them, or a foreign program. The first is ${faults[0]!.slice(0, LONGEST_FAULT)}`,
    );
    this.context.events.next({ type: 'problem', action: this.action, error });
  }
}
