import { setTimeout as pause } from 'node:timers/promises';
import type { FlakeIdGenerator } from 'hazelcast-client';
import type { ClockReading } from '../store.js';
import { StoreUnavailableError } from '../store.errors.js';
import { ClockPrefetchError } from './clock-prefetch.error.js';
import { type FlakeId, readingOf } from './flake-id.js';

/** ms between two readings that must tell different times. */
const PROOF = 50;
/** Names that take turns. One that is used again was given up so many members' set-back clocks ago. */
const NAMES = 16;

interface MemberClockOptions {
  /** Of the generators; the first has just this one. */
  readonly name: string;
  /** Whether the generators are known to make each id when they are asked for it. */
  readonly isTrusted: boolean;
  /** ms after which an answer is not waited for any more. */
  readonly patience: number;
}

/**
 * Reads the clock of a member, by the ids that it makes.
 *
 * A member whose clock was set back makes no id before it has caught up with the last one but for 15 s, and the client
 * queues all requests behind the one that is under way: one member's clock would take the time from everybody for as
 * long as it was wrong. So a generator that does not answer is given up for one of another name, whose last id nobody
 * has to catch up with.
 */
export class MemberClock {
  #generator?: Promise<FlakeIdGenerator>;
  #turn = 0;
  #isProven: boolean;

  constructor(
    private readonly generatorNamed: (name: string) => Promise<FlakeIdGenerator>,
    private readonly options: MemberClockOptions,
  ) {
    this.#isProven = options.isTrusted;
  }

  /**
   * @throws ClockPrefetchError when ids come from a batch that was fetched earlier
   * @throws StoreUnavailableError when no answer came in time; the next reading asks anew
   */
  async read(): Promise<ClockReading> {
    if (!this.#isProven) await this.#prove();
    return readingOf(await this.newId());
  }

  /** Once a generator: two ids made 50 ms apart tell different times, unless both came with the first. */
  async #prove(): Promise<void> {
    const first = readingOf(await this.newId());
    await pause(PROOF);
    const second = readingOf(await this.newId());
    const isSameBatch = first.member === second.member && Math.abs(second.time - first.time) < PROOF / 2;
    if (isSameBatch) throw new ClockPrefetchError(this.options.name);
    this.#isProven = true;
  }

  /** An id, whatever time it tells: a member answers. Errors as {@link read}. */
  async newId(): Promise<FlakeId> {
    const generator = (this.#generator ??= this.#newGenerator());
    const answer = generator.then((each) => each.newId());
    const waiting = new AbortController();
    const tooLong = pause(this.options.patience, undefined, { signal: waiting.signal, ref: false }).then(() => {
      this.#giveUp(generator);
      throw new StoreUnavailableError(`No member told its time within ${this.options.patience} ms: try again`);
    });
    tooLong.catch(() => undefined); // it loses the race
    try {
      return (await Promise.race([answer, tooLong])) as FlakeId;
    } finally {
      waiting.abort();
    }
  }

  #newGenerator(): Promise<FlakeIdGenerator> {
    const generator = this.generatorNamed(this.#name);
    // It could not be had, as when the member that was asked for it went: the next reading asks anew.
    generator.catch(() => {
      if (this.#generator === generator) this.#generator = undefined;
    });
    return generator;
  }

  get #name(): string {
    return this.#turn === 0 ? this.options.name : `${this.options.name}.${this.#turn}`;
  }

  /** Once, however many wait for it. */
  #giveUp(generator: Promise<FlakeIdGenerator>): void {
    if (this.#generator !== generator) return;
    this.#generator = undefined;
    this.#turn = (this.#turn + 1) % NAMES;
    this.#isProven = this.options.isTrusted;
  }
}
