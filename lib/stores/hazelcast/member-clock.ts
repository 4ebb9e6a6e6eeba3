import type { FlakeIdGenerator } from 'hazelcast-client';
import { systemClock } from '../../async/node-clock.js';
import { pause } from '../../async/pause.js';
import type { ClockReading } from '../store.js';
import { StoreUnavailableError } from '../store.errors.js';

/** The given client fetches ids in batches: their time is that of the batch, not the present. */
export class ClockPrefetchError extends StoreUnavailableError {
  override readonly code = 'clock-prefetch';

  constructor(clockName: string) {
    super(
      `Cluster time can't be read, because the Hazelcast client that was passed in fetches ids in advance: make it with ` +
        `the ClientConfig { flakeIdGenerators: { '${clockName}*': { prefetchCount: 1 } } }`,
    );
  }
}

/** 2018-01-01, from which Hazelcast counts (`epoch-start` of a flake-id-generator, here left at its default). */
const EPOCH = 1_514_764_800_000;
const SEQUENCE_BITS = 6;
const MEMBER_BITS = 16;

/** The part of `Long` that is needed, so that nothing depends on the copy of `long` that the client uses. */
export interface FlakeId {
  getLowBits(): number;
  shiftRightUnsigned(bits: number): { toNumber(): number };
}

/**
 * The time and the member that an id carries: 41 bits of ms since {@link EPOCH}, 6 of a sequence, 16 of the member's id.
 *
 * @see https://docs.hazelcast.com/hazelcast/latest/data-structures/flake-id-generator
 */
export function readingOf(id: FlakeId): ClockReading {
  return {
    time: id.shiftRightUnsigned(SEQUENCE_BITS + MEMBER_BITS).toNumber() + EPOCH,
    member: String(id.getLowBits() & (2 ** MEMBER_BITS - 1)),
  };
}

/** ms between two readings that must tell different times. */
const PROOF = 50;
/** Number of names in turn: a name is used again only after 16 set-back clocks. */
const NAMES = 16;

interface MemberClockOptions {
  /** Name of the first generator; the names of the others begin with it. */
  readonly name: string;
  /** Whether each id is surely generated at its request. */
  readonly isTrusted: boolean;
  /** Longest wait for an answer, in ms. */
  readonly patience: number;
}

/**
 * Reads the clock of a member, by the ids that it makes.
 *
 * A member whose clock was set back by more than 15 s makes no id before it has caught up with its last one, and the
 * client queues all requests behind the one that is under way: one wrong clock would stop all readings for as long as
 * it is wrong. So a generator without an answer is replaced by one with another name, which has no last id.
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
   * @throws StoreUnavailableError when no answer came in time; the next reading asks again
   */
  async read(): Promise<ClockReading> {
    if (!this.#isProven) await this.#prove();
    return readingOf(await this.newId());
  }

  /** Once per generator: two ids made 50 ms apart tell different times, unless both came with the first. */
  async #prove(): Promise<void> {
    const first = readingOf(await this.newId());
    await pause(systemClock, PROOF);
    const second = readingOf(await this.newId());
    const isSameBatch = first.member === second.member && Math.abs(second.time - first.time) < PROOF / 2;
    if (isSameBatch) throw new ClockPrefetchError(this.options.name);
    this.#isProven = true;
  }

  /** Requests an id only to prove that a member answers. Errors as {@link read}. */
  async newId(): Promise<FlakeId> {
    const generator = (this.#generator ??= this.#newGenerator());
    const answer = generator.then((each) => each.newId());
    const waiting = new AbortController();
    const { signal } = waiting;
    const { patience } = this.options;
    try {
      const id = await Promise.race([answer, pause(systemClock, patience, { signal, isAwaited: false })]);
      if (id) return id as FlakeId;
    } finally {
      waiting.abort();
    }
    this.#giveUp(generator);
    throw new StoreUnavailableError(`No member answered with its time within ${patience} ms: try again`);
  }

  #newGenerator(): Promise<FlakeIdGenerator> {
    const generator = this.generatorNamed(this.#name);
    // Creating it failed, for instance because the asked member left: the next reading tries again.
    generator.catch(() => {
      if (this.#generator === generator) this.#generator = undefined;
    });
    return generator;
  }

  get #name(): string {
    return this.#turn === 0 ? this.options.name : `${this.options.name}.${this.#turn}`;
  }

  /** Once, for any number of waiting readings. */
  #giveUp(generator: Promise<FlakeIdGenerator>): void {
    if (this.#generator !== generator) return;
    this.#generator = undefined;
    this.#turn = (this.#turn + 1) % NAMES;
    this.#isProven = this.options.isTrusted;
  }
}
