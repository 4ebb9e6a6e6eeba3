import type { Context } from '../../core/context/context.js';
import type { Hints } from '../records/hints.js';
import { type Hint, HintSource } from '../workers/hint-source.js';

/** A hint that arrived for a claim that waits. */
interface TypedHint {
  readonly type: string;
  readonly hint: Hint;
}

/** Types that are kept although no claim waits for them: their polls begin again at once. */
const MOST_IDLE = 100;

type Taker = (hint: Hint) => void;

/** Claims of external workers that wait on this node for a hint. All that wait for a type share the polls of its queues. */
export class WaitingClaims {
  readonly #desks = new Map<string, TypeClaimQueue>();
  /** Those that are closed, and may still give a hint back. */
  readonly #leaving = new Set<Promise<void>>();
  readonly #closing = new AbortController();
  #count = 0;

  constructor(
    private readonly hints: () => Hints,
    private readonly context: Context,
  ) {}

  /** Number of claims that wait. */
  get count(): number {
    return this.#count;
  }

  /**
   * Waits for a hint of one of the types.
   *
   * @param patience ms
   * @returns undefined if none arrived in this time, or the signal aborted, or this node shuts down
   */
  wait(types: readonly string[], patience: number, signal: AbortSignal): Promise<TypedHint | undefined> {
    if (signal.aborted || this.#closing.signal.aborted) return Promise.resolve(undefined);
    return new Promise((resolve) => {
      const ends = [signal, this.#closing.signal];
      this.#count++;
      const end = (found?: TypedHint) => {
        this.#count--;
        cancel();
        for (const each of ends) each.removeEventListener('abort', giveUp);
        for (const [desk, taker] of places) desk.remove(taker);
        resolve(found);
      };
      const giveUp = () => end();
      const cancel = this.context.nodeClock.schedule(giveUp, patience, true);
      for (const each of ends) each.addEventListener('abort', giveUp);
      const places = types.map((type): [TypeClaimQueue, Taker] => {
        const [desk, taker] = [this.#desk(type), (hint: Hint) => end({ type, hint })];
        // At once: the next type may close queues that are not used.
        desk.add(taker);
        return [desk, taker];
      });
    });
  }

  /** Ends all waits. Hints that still arrive are offered again. */
  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.all([...this.#leaving, ...[...this.#desks.values()].map((desk) => desk.close())]);
  }

  #desk(type: string): TypeClaimQueue {
    const desk = this.#desks.get(type) ?? new TypeClaimQueue(new HintSource(type, this.hints(), this.context));
    // The last one comes last.
    this.#desks.delete(type);
    this.#desks.set(type, desk);
    if (this.#desks.size > MOST_IDLE) this.#closeIdle(desk);
    return desk;
  }

  #closeIdle(used: TypeClaimQueue): void {
    for (const [type, desk] of this.#desks) {
      if (this.#desks.size <= MOST_IDLE) return;
      if (desk === used || desk.isUsed) continue;
      this.#desks.delete(type);
      const closed = desk.close().finally(() => this.#leaving.delete(closed));
      this.#leaving.add(closed);
    }
  }
}

/** The claims that wait for one type, first come, first served. It asks for hints only while there are some. */
class TypeClaimQueue {
  readonly #takers = new Set<Taker>();
  #isServing = false;
  #isClosed = false;

  constructor(private readonly source: HintSource) {}

  /** Whether claims wait. */
  get isUsed(): boolean {
    return this.#takers.size > 0;
  }

  add(taker: Taker): void {
    this.#takers.add(taker);
    if (!this.#isServing) void this.#serve();
  }

  remove(taker: Taker): void {
    if (this.#takers.delete(taker) && this.#takers.size === 0) this.source.stopWaiting();
  }

  close(): Promise<void> {
    this.#isClosed = true;
    return this.source.close();
  }

  async #serve(): Promise<void> {
    this.#isServing = true;
    while (this.#takers.size > 0 && !this.#isClosed) {
      for (const hint of await this.source.take(this.#takers.size)) this.#give(hint);
    }
    this.#isServing = false;
  }

  /** A taker removes itself. */
  #give(hint: Hint): void {
    const [taker] = this.#takers;
    if (taker) taker(hint);
    else void this.source.giveBack(hint);
  }
}
