import { filter } from 'rxjs';
import { Wakeup } from '../../async/wakeup.js';
import type { Context } from '../../context/context.js';

/**
 * The time right after the start in which definitions of this node's code may still be missing in the store, because
 * they are created only after `definitionsDelay`. Calls that find no definition wait here, so that no tick of a job is
 * lost.
 */
export class FirstLoad {
  #isOver = false;
  readonly #waiting = new Set<Wakeup>();

  /** @param patience the longest time for which one call waits, in ms */
  constructor(
    private readonly context: Context,
    private readonly patience: number,
  ) {}

  /** Ends all waits: definitions were loaded, or this node shuts down. */
  end(): void {
    this.#isOver = true;
    for (const bell of this.#waiting) bell.ring();
  }

  /**
   * Waits until the record of a semaphore may be active: this node has loaded its definitions, or another node made it.
   *
   * @param isThere whether the record is active, and no longer missing or pending
   * @returns false if there is nothing to wait for
   */
  async wait(semaphore: string, isThere: () => boolean): Promise<boolean> {
    if (this.#isOver) return false;
    const bell = new Wakeup(this.context.nodeClock);
    const changes = this.context.changes
      .pipe(filter((changed) => changed === semaphore && isThere()))
      .subscribe(bell.ring);
    this.#waiting.add(bell);
    try {
      await bell.wait(this.patience);
      return true;
    } finally {
      changes.unsubscribe();
      this.#waiting.delete(bell);
    }
  }
}
