import type { EntryOf } from './history.js';

/** How many permits of each semaphore there could be when. */
export class Limits {
  readonly #limits = new Map<string, EntryOf<'limited'>[]>();

  see(entry: EntryOf<'limited'>): void {
    const limits = this.#limits.get(entry.semaphore) ?? [];
    limits.push(entry);
    this.#limits.set(entry.semaphore, limits);
  }

  /**
   * The most that was allowed at any moment from `since` on: a grant was decided somewhen between its call and its
   * answer.
   *
   * @returns undefined when no entry covers `since`
   */
  most(semaphore: string, since: number): number | undefined {
    const limits = this.#limits.get(semaphore) ?? [];
    let most = -Infinity;
    for (let index = limits.length - 1; index >= 0; index--) {
      const { at, permits } = limits[index]!;
      most = Math.max(most, permits);
      if (at <= since) return most;
    }
    return undefined;
  }
}
