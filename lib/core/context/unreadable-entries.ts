import type { Context } from './context.js';

/** ms between two reports of the same problem. Without a limit, an open page would cause one every few seconds. */
const QUIET = 600_000;
/** Longest reported part of the first fault, in characters: a text may have very many faults. */
const LONGEST_FAULT = 300;

/**
 * Counts unreadable entries that were left out when the store was read. Reports them at once the first time, then at
 * most every ten minutes.
 */
export class UnreadableEntries {
  #count = 0;
  #reportedAt = -Infinity;

  /** @param action name of the read operation, for the event */
  constructor(
    private readonly action: string,
    private readonly context: Context,
  ) {}

  /** Number of entries that the latest reading left out. */
  get count(): number {
    return this.#count;
  }

  /** Notes a reading. @param faults one sentence per entry that was left out */
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
