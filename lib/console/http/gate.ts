import { ProblemError } from '../api/problem.error.js';

interface GateSettings {
  /** Places of all owners together. Default: no limit. */
  readonly most?: number;
  /** Places of one owner. Default: no limit. */
  readonly mostEach?: number;
  /** How many of one owner may wait until one of all places is free. Default 0. */
  readonly mostWaitingEach?: number;
  /** @param owner whose places are all taken; absent if those of all owners together are */
  readonly refusal: (owner?: string) => ProblemError;
}

interface Waiting {
  readonly owner: string;
  readonly begin: (leave: Leave) => void;
}

/** Gives a place back. Call it once. */
export type Leave = () => void;

/**
 * Limits what goes on at the same time, together and for each owner, such as the name of a token. Who finds no place waits in
 * the order of the requests, or is refused.
 */
export class Gate {
  /** Places by their owner. */
  readonly #places = new Map<string, number>();
  #taken = 0;
  readonly #waiting: Waiting[] = [];

  constructor(private readonly settings: GateSettings) {}

  /** Takes a place now. @throws ProblemError if there is none */
  enter(owner: string): Leave {
    this.expectRoom(owner);
    return this.take(owner);
  }

  /** @throws ProblemError if there is no place */
  expectRoom(owner: string): void {
    const { refusal } = this.settings;
    if (this.#isFull) throw refusal();
    if (this.#hasTooMany(owner)) throw refusal(owner);
  }

  /** Takes a place, even if there is none: for what goes on already. */
  take(owner: string): Leave {
    this.#taken++;
    this.#places.set(owner, this.#placesOf(owner) + 1);
    return () => this.#leave(owner);
  }

  /**
   * Does `work` in a place.
   *
   * @param signal aborts when the caller has gone. Work that still waits for its place is dropped then
   * @throws ProblemError if there is no place to work or to wait, the error of `work`, or the signal's reason
   */
  async during<T>(owner: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const leave = await this.#turn(owner, signal);
    try {
      return await work();
    } finally {
      leave();
    }
  }

  async #turn(owner: string, signal?: AbortSignal): Promise<Leave> {
    signal?.throwIfAborted();
    const { mostWaitingEach = 0, refusal } = this.settings;
    if (this.#hasTooMany(owner)) throw refusal(owner);
    if (!this.#isFull) return this.take(owner);
    const waiting = this.#waiting.filter((each) => each.owner === owner).length;
    if (waiting >= mostWaitingEach) throw refusal(mostWaitingEach > 0 ? owner : undefined);
    return new Promise<Leave>((begin, fail) => {
      const place = { owner, begin };
      this.#waiting.push(place);
      signal?.addEventListener('abort', () => this.#giveUp(place) && fail(signal.reason as Error), { once: true });
    });
  }

  get #isFull(): boolean {
    return this.#taken >= (this.settings.most ?? Infinity);
  }

  #hasTooMany(owner: string): boolean {
    return this.#placesOf(owner) >= (this.settings.mostEach ?? Infinity);
  }

  #placesOf(owner: string): number {
    return this.#places.get(owner) ?? 0;
  }

  #leave(owner: string): void {
    this.#taken--;
    const left = this.#placesOf(owner) - 1;
    if (left > 0) this.#places.set(owner, left);
    else this.#places.delete(owner);
    // The next one has the place before others can come in between.
    const next = this.#isFull ? undefined : this.#waiting.shift();
    next?.begin(this.take(next.owner));
  }

  /** @returns false if it has its place already */
  #giveUp(place: Waiting): boolean {
    const index = this.#waiting.indexOf(place);
    if (index >= 0) this.#waiting.splice(index, 1);
    return index >= 0;
  }
}

/** The refusal of a request that may be repeated a moment later. @param detail what is full, and what to do */
export function tooManyWaits(detail: string): ProblemError {
  return new ProblemError('too-many-waits', detail, { retryAfter: 1 });
}
