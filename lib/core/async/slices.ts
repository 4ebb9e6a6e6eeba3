import type { NodeClock } from './node-clock.js';
import { InvalidOptionsError } from '../decision/index.js';

type SliceClock = Pick<NodeClock, 'monotonic' | 'nextTurn'>;

/** ms that long work may take in one turn of the event loop. */
const SLICE = 5;
/** Characters of texts that are made, read and sent in one turn: that takes about as long. */
const CHARACTERS = 512 * 1024;
/** Waiters that may be woken in one turn: however many wait, a turn costs no more than these. */
const WOKEN = 64;

/**
 * All long work of this process shares one slice per turn of the event loop, first in, first out. With a slice for
 * each, ten requests would block ten times as long.
 */
export class Slices {
  /** When the slice of this turn began, in monotonic ms. Undefined if no work was done in this turn. */
  #began: number | undefined;
  /** Of the texts of this turn, also of those that are not made yet. */
  #characters = 0;
  readonly #waiting: (() => void)[] = [];
  /** Calls of {@link #wakeOne} in the next turn. */
  #planned = 0;
  /** Whether a waiter was woken since the slice of this turn began. */
  #hasWoken = false;

  constructor(private readonly clock: SliceClock) {}

  /** Returns the slices that all work on the same clock shares. */
  static of(clock: SliceClock): Slices {
    const slices = slicesByClock.get(clock) ?? new Slices(clock);
    slicesByClock.set(clock, slices);
    return slices;
  }

  /** Whether the slice of this turn is used up. */
  get isOver(): boolean {
    this.#began ??= this.#begin();
    return this.#characters >= CHARACTERS || this.clock.monotonic() - this.#began >= SLICE;
  }

  /**
   * Call this between two items. It waits for a later turn of the event loop if the slice is used up.
   *
   * @param characters of the texts of the next item. Give them for work that goes on side by side: all of it comes by here
   *   before any takes time
   * @returns undefined if there is nothing to wait for: a promise would cost a busy node more than the look
   */
  turn(characters = 0): Promise<void> | undefined {
    if (this.isOver) return this.#later(characters);
    this.#characters += characters;
    return undefined;
  }

  async #later(characters: number): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#waiting.push(resolve);
      this.#plan();
    });
    this.#characters += characters;
  }

  #begin(): number {
    this.clock.nextTurn(() => (this.#began = undefined));
    this.#characters = 0;
    this.#hasWoken = false;
    return this.clock.monotonic();
  }

  #plan(): void {
    if (this.#planned >= WOKEN || this.#planned >= this.#waiting.length) return;
    this.#planned++;
    this.clock.nextTurn(this.#wakeOne);
  }

  /**
   * Wakes one waiter. Each call comes by itself, so that the item of the waiter before is done by then. If all woke together,
   * each would do one more item before it sees that the slice is over. One is woken in any case: else work that begins anew in
   * each turn could use up all slices.
   */
  readonly #wakeOne = (): void => {
    this.#planned--;
    if (!this.isOver || !this.#hasWoken) {
      this.#hasWoken = true;
      this.#waiting.shift()?.();
    }
    this.#plan();
  };
}

const slicesByClock = new WeakMap<object, Slices>();

/**
 * Work that can be interrupted at each `yield`. It yields the number of matching steps that it just did or does next.
 */
export type Pieces<T> = Generator<number, T, void>;

/** Number of light items in one piece: at most 1 ms of work, also with the longest ids of resources. */
const PIECE = 500;

/** Visits all items, in pieces: a loop over 100,000 of them would block the event loop. */
export function* eachInPieces<T>(items: Iterable<T>, visit: (item: T) => void): Pieces<void> {
  let count = 0;
  for (const item of items) {
    visit(item);
    if (++count % PIECE === 0) yield PIECE;
  }
}

/** The largest amount of work for one request. */
export interface WorkLimit {
  /** Steps of pattern matching; see `stepsOf`. */
  readonly most: number;
  /** Names the request in the error. */
  readonly subject: string;
}

/**
 * Does work in slices, so that it does not block the event loop, however long it takes.
 *
 * @param signal aborts when no one wants the result any more: then the work ends with its present piece
 * @throws InvalidOptionsError if the work takes more steps than `limit` allows, or the signal's reason
 */
export async function inSlices<T>(
  work: Pieces<T>,
  clock: SliceClock,
  limit?: WorkLimit,
  signal?: AbortSignal,
): Promise<T> {
  const slices = Slices.of(clock);
  let steps = 0;
  for (;;) {
    // Checked also before the first piece, because all requests that begin in one turn share its slice.
    if (slices.isOver) await slices.turn();
    const { done, value } = work.next();
    if (done) return value;
    signal?.throwIfAborted();
    steps += value;
    if (limit && steps > limit.most) throw tooMuch(limit);
  }
}

function tooMuch({ subject, most }: WorkLimit): InvalidOptionsError {
  return new InvalidOptionsError(subject, [
    `its patterns take more than ${most} steps to match all names: use simpler patterns, or match fewer names in a call`,
  ]);
}
