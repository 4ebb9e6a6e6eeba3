import type { NodeClock } from './node-clock.js';

/** Ends a turn; later calls do nothing. */
export type Unlock = () => void;

/** Mutual exclusion by key: callers of one key take turns, in the order in which they came. */
export class KeyedMutex {
  readonly #last = new Map<string, Promise<void>>();

  constructor(private readonly clock: NodeClock) {}

  /**
   * Resolves when it is this caller's turn.
   *
   * @param longest ms after which the turn ends by itself: unsettled work must not block its key for ever
   * @returns a function that ends the turn
   */
  async lock(key: string, longest: number): Promise<Unlock> {
    const before = this.#last.get(key);
    let endTurn!: () => void;
    const turn = new Promise<void>((resolve) => (endTurn = resolve));
    this.#last.set(key, turn);
    await before;
    const unlock = () => {
      cancelTimer();
      endTurn();
      if (this.#last.get(key) === turn) this.#last.delete(key);
    };
    const cancelTimer = this.clock.schedule(unlock, longest);
    return unlock;
  }
}
