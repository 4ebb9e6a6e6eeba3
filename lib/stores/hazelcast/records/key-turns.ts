import type { Client as HazelcastClient } from 'hazelcast-client';

/** ms: Node takes a longer timer for a mistake, and lets it end at once. */
const LONGEST_TIMER = 2 ** 31 - 1;

/** One after another under each key, in the order in which they came, but for one whose turn took too long. */
export class Turns {
  readonly #last = new Map<string, Promise<void>>();

  /**
   * Resolves when it is this caller's turn, to a function that ends the turn.
   *
   * @param longest ms after which the turn ends by itself: of a call that a client never settles nobody would end it
   */
  async begin(key: string, longest: number): Promise<() => void> {
    const before = this.#last.get(key);
    let resolveMine!: () => void;
    const mine = new Promise<void>((resolve) => (resolveMine = resolve));
    this.#last.set(key, mine);
    await before;
    const end = () => {
      clearTimeout(timer);
      resolveMine();
      if (this.#last.get(key) === mine) this.#last.delete(key);
    };
    const timer = setTimeout(end, Math.min(longest, LONGEST_TIMER)).unref();
    return end;
  }
}

const turns = new WeakMap<HazelcastClient, Turns>();

/**
 * The turns of all who lock by this client. They must share them, stores over one client included: to the members all
 * flows of a Node client are one owner, so that each of them would get a lock that another holds.
 */
export function turnsOf(client: HazelcastClient): Turns {
  const known = turns.get(client) ?? new Turns();
  turns.set(client, known);
  return known;
}
