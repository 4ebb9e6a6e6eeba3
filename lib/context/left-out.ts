import type { Context } from './context.js';

/** ms between two reports of the same problem: an open page reads every few seconds. */
const QUIET = 600_000;
/** Characters of the first fault that are reported: a text of many faults has a long list of them. */
const LONGEST_FAULT = 300;

/**
 * Counts unreadable entries that a reading of the store left out, and reports them: the first time at once, then at most
 * every ten minutes.
 */
export class LeftOut {
  #count = 0;
  #reportedAt = -Infinity;

  /** @param action names the reading in the event */
  constructor(
    private readonly action: string,
    private readonly context: Context,
  ) {}

  /** Of the latest reading. */
  get count(): number {
    return this.#count;
  }

  /** @param faults one sentence per entry that a reading left out */
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
