import type { FlakeIdGenerator } from 'hazelcast-client';
import { systemClock } from '../../core/async/node-clock.js';
import { pause } from '../../core/async/pause.js';
import type { ClockReading } from '../../core/store/driver.js';
import { StoreUnavailableError } from '../../core/store/store.errors.js';

/** The application's client fetches ids in batches, so their time is that of the batch and not the present time. */
export class ClockPrefetchError extends StoreUnavailableError {
  static override readonly className = 'ClockPrefetchError';
  override readonly code = 'clock-prefetch';

  constructor(clockName: string) {
    super(
      `Cluster time can't be read, because the Hazelcast client that was passed in fetches ids in advance: make it with ` +
        `the ClientConfig { flakeIdGenerators: { '${clockName}*': { prefetchCount: 1 } } }`,
    );
  }
}

/** 2018-01-01, the start of Hazelcast's ids (`epoch-start` of a flake-id-generator; its default is used). */
const EPOCH = 1_514_764_800_000;
const SEQUENCE_BITS = 6;
const MEMBER_BITS = 16;

/** The used methods of `Long`, so that this code does not depend on the client's copy of the package `long`. */
export interface FlakeId {
  getLowBits(): number;
  shiftRightUnsigned(bits: number): { toNumber(): number };
}

/**
 * Reads time and member from an id: 41 bits of ms since {@link EPOCH}, 6 of a sequence, 16 of the member's id.
 *
 * @see https://docs.hazelcast.com/hazelcast/latest/data-structures/flake-id-generator
 */
export function readingOf(id: FlakeId): ClockReading {
  return {
    time: id.shiftRightUnsigned(SEQUENCE_BITS + MEMBER_BITS).toNumber() + EPOCH,
    member: String(id.getLowBits() & (2 ** MEMBER_BITS - 1)),
  };
}

/** ms between two readings that must have different times. */
const PROOF = 50;
/** Number of generator names. They are used in turn, so a name is used again only after 16 given-up generators. */
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
 * Reads the clock of a member from the ids that the member generates.
 *
 * If a member's clock was set back by more than 15 s, the member generates no id until its clock has reached the time
 * of its last id. The client queues all other requests behind that one. So one wrong clock would stop all readings. For
 * this reason a generator without an answer is replaced by one with another name, which has no last id.
 */
export class FlakeIdClock {
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
   * Reads the clock of one member.
   *
   * @throws ClockPrefetchError if ids come from a batch that was fetched earlier
   * @throws StoreUnavailableError if there was no answer in time; the next reading asks again
   */
  async read(): Promise<ClockReading> {
    if (!this.#isProven) await this.#prove();
    return readingOf(await this.newId());
  }

  /** Checks once per generator that two ids requested 50 ms apart have different times, so are not of one batch. */
  async #prove(): Promise<void> {
    const first = readingOf(await this.newId());
    await pause(systemClock, PROOF);
    const second = readingOf(await this.newId());
    const isSameBatch = first.member === second.member && Math.abs(second.time - first.time) < PROOF / 2;
    if (isSameBatch) throw new ClockPrefetchError(this.options.name);
    this.#isProven = true;
  }

  /** Requests one id, also to check that a member answers. Same errors as {@link read}. */
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
    // The creation may fail, for instance because the asked member left. The next reading tries again.
    generator.catch(() => {
      if (this.#generator === generator) this.#generator = undefined;
    });
    return generator;
  }

  get #name(): string {
    return this.#turn === 0 ? this.options.name : `${this.options.name}.${this.#turn}`;
  }

  /** Replaces a generator, once for any number of waiting readings. */
  #giveUp(generator: Promise<FlakeIdGenerator>): void {
    if (this.#generator !== generator) return;
    this.#generator = undefined;
    this.#turn = (this.#turn + 1) % NAMES;
    this.#isProven = this.options.isTrusted;
  }
}
