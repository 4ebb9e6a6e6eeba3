import { setImmediate as nextTurn } from 'node:timers/promises';
import type { NodeClock } from './node-clock.js';
import { InvalidOptionsError } from '../decision/index.js';

/** ms that one piece of work may take before everything else in this process has its turn. */
const SLICE = 5;

/** Lets everything else have its turn during long work: the event loop is never blocked for more than a few ms. */
export class Slices {
  #began: number;
  #turning?: Promise<void> | undefined;

  constructor(private readonly clock: Pick<NodeClock, 'monotonic'>) {
    this.#began = clock.monotonic();
  }

  /** Whether the present slice is used up. */
  get isOver(): boolean {
    return this.clock.monotonic() - this.#began >= SLICE;
  }

  /** Call it between two items: waits for the next turn of the event loop when the slice is used up. */
  async turn(): Promise<void> {
    if (!this.isOver) return;
    this.#turning ??= this.#turn();
    await this.#turning;
  }

  /** One for all that work side by side: with a slice for each, all of them would follow one another in one turn. */
  async #turn(): Promise<void> {
    await nextTurn();
    this.#began = this.clock.monotonic();
    this.#turning = undefined;
  }
}

/** Work that can be interrupted at each `yield`, which tells how many steps of matching were taken or are next. */
export type Pieces<T> = Generator<number, T, void>;

/** The bound of work for one request. */
export interface WorkLimit {
  /** Steps of matching; see `stepsOf`. */
  readonly most: number;
  /** Names the request in the error. */
  readonly subject: string;
}

/**
 * Does work in slices, so that it blocks nothing else however long it takes.
 *
 * @throws InvalidOptionsError when it takes more steps than it may
 */
export async function inSlices<T>(work: Pieces<T>, clock: Pick<NodeClock, 'monotonic'>, limit?: WorkLimit): Promise<T> {
  const slices = new Slices(clock);
  let steps = 0;
  for (;;) {
    const { done, value } = work.next();
    if (done) return value;
    steps += value;
    if (limit && steps > limit.most) throw tooMuch(limit);
    if (slices.isOver) await slices.turn();
  }
}

function tooMuch({ subject, most }: WorkLimit): InvalidOptionsError {
  return new InvalidOptionsError(subject, [
    `its patterns take more than ${most} steps to match all names: use simpler patterns, or match fewer names in a call`,
  ]);
}
