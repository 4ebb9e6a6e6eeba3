import { LeaseExpiry } from '../clock/index.js';
import {
  CorruptRecordError,
  type Expiring,
  type LeaseChanges,
  NewerRecordError,
  type View,
  hasRoom,
  quoted,
} from '../decision/index.js';
import type { Context } from '../context/context.js';
import type { RecordCodec, RecordListener, StoredRecord } from './record-codec.js';

/**
 * Whether an error means that a text is no record, or not one for this version. The cell reports such an error once.
 */
export const isUnreadable = (error: unknown): error is CorruptRecordError | NewerRecordError =>
  error instanceof CorruptRecordError || error instanceof NewerRecordError;

/** Lower bound of cluster time in ms, for a request that is sent now; undefined while cluster time is not fresh. */
export function askTimeOf({ clusterClock }: Pick<Context, 'clusterClock'>): number | undefined {
  return clusterClock.isFresh ? clusterClock.earliest() : undefined;
}

const NO_LEASES: readonly Expiring[] = [];

/** Rounds of readings for one text: one may have begun before the text arrived. */
const MOST_STAMP_SAMPLES = 2;

/** One record as this node last saw it. Judges from it which leases are over, and whether clocks are wrong. */
export class KnownRecord<R extends StoredRecord> {
  #text?: string;
  #record?: R;
  #furthest?: R;
  /** The record whose leases were observed last. */
  #noted?: R | undefined;
  /** Monotonic ms at which this node got the text from another writer. */
  #acceptedAt = -Infinity;
  /** Samples that were wished for because of its stamp. */
  #stampSamples = 0;
  /** Lower bound of cluster time at the last look at the record. What it did not have was written after that. */
  #lookedAt?: number | undefined;
  /** The text that was reported as unreadable. */
  #unreadable?: string;
  readonly #judge: LeaseExpiry;

  constructor(
    readonly name: string,
    private readonly codec: RecordCodec<R>,
    private readonly context: Context,
    private readonly listener: Required<Pick<RecordListener<R>, 'changed' | 'unreadable'>>,
  ) {
    this.#judge = new LeaseExpiry(context.clusterClock, context.nodeClock, context.timing.clockTolerance);
  }

  /** The text as last seen. Undefined if the record was never seen, or was missing. */
  get text(): string | undefined {
    return this.#text;
  }

  get record(): R | undefined {
    return this.#record;
  }

  /** The latest version of the record that this node has seen. A record that is behind it lacks writes. */
  get furthest(): R | undefined {
    return this.#furthest;
  }

  /** Whether a record lacks writes that this node has seen. One without room has no next version: what follows is new. */
  isAheadOf(record: R): boolean {
    const furthest = this.#furthest;
    return furthest !== undefined && hasRoom(furthest) && this.codec.isBehind(record, furthest);
  }

  /** The view for a decision now. Call it only while cluster time is fresh. */
  view(): View {
    // Read once: a record may have hundreds of leases.
    const at = this.context.nodeClock.monotonic();
    return { now: this.context.clusterClock.latest(at), isExpired: (lease) => this.#judge.isExpired(lease, at) };
  }

  /** ms until another node may take over a lease that is not refreshed. Call it only while cluster time is fresh. */
  timeUntilExpiry(lease: Expiring): number {
    return this.#judge.timeUntilExpiry(lease);
  }

  /**
   * Whether to sample the clocks before a decision: a sample may end a lease that counted as alive in the last view, or a
   * clock stamped the record that is ahead of all that this node has heard. The call resets the first.
   */
  takeSampleWish(): boolean {
    return this.#judge.takeSampleWish() || this.#isStampUnheard();
  }

  /**
   * Reports an unreadable text once, not per call.
   *
   * @throws CorruptRecordError or NewerRecordError
   */
  decode(text: string): R {
    try {
      return this.codec.decode(this.name, text);
    } catch (error) {
      if (text !== this.#unreadable) this.listener.unreadable(error as Error);
      this.#unreadable = text;
      throw error;
    }
  }

  /**
   * Takes over a text that was read or reported. Any node may have written it.
   *
   * @param askedAt see {@link observe}
   */
  accept(text: string | undefined, record: R | undefined, askedAt?: number): void {
    this.#checkStamp(record);
    this.#text = text;
    this.#record = record;
    this.#acceptedAt = this.context.nodeClock.monotonic();
    this.#stampSamples = 0;
    if (record) this.#advance(record, false);
    this.observe(askedAt);
  }

  /** Takes over a text that this node wrote. Its time stamp comes from this node's own reading of cluster time. */
  keep(text: string, record: R): void {
    this.#text = text;
    this.#record = record;
    this.#advance(record, true);
    this.#note();
    // Not the time of the answer: another node may have written after this write and before the answer.
    this.#lookedAt = Math.min(record.at, this.context.clusterClock.earliest());
  }

  /**
   * Notes a look that found the record unchanged.
   *
   * @param askedAt {@link askTimeOf} before the request; undefined for a report, which may be late: a process that was frozen
   *   gets all that came meanwhile at once
   */
  observe(askedAt?: number): void {
    this.#note();
    if (askedAt !== undefined) this.#lookedAt = askedAt;
  }

  #advance(record: R, own: boolean): void {
    const former = this.#furthest;
    this.#furthest = record;
    this.listener.changed({ record, former, own });
  }

  #note(): void {
    this.#unreadable = undefined;
    const [former, record] = [this.#noted, this.#record];
    if (former === record) return this.#judge.observe(NO_LEASES);
    this.#noted = record;
    const { gone, begun } = this.#leaseChanges(former, record);
    this.#judge.observe(begun, gone);
  }

  #leaseChanges(former: R | undefined, record: R | undefined): LeaseChanges {
    const { codec } = this;
    if (former && record && codec.leaseChanges) return codec.leaseChanges(former, record);
    return { gone: former ? codec.leases(former) : NO_LEASES, begun: record ? codec.leases(record) : NO_LEASES };
  }

  /**
   * Checks the clocks. If clocks agree, a record that appeared between two looks has a time stamp between them. Allows
   * for the tolerance. Also allows for the longest duration of a call, because the stamp is older than the write.
   */
  #checkStamp(record: R | undefined): void {
    const { clusterClock, timing } = this.context;
    if (!record || !clusterClock.isFresh || record.seq === this.#furthest?.seq) return;
    const behind = this.#lookedAt === undefined ? 0 : this.#lookedAt - record.at - timing.callTimeout;
    const apart = Math.max(this.#aheadOfClocks(record), behind);
    if (apart <= timing.clockTolerance) return;
    clusterClock.suspect(`a record of ${quoted(this.name)} was stamped ${apart} ms off this node's cluster time`);
  }

  /**
   * This node may have an old sample of a clock that was corrected since. What it stamped then would end too early. A
   * clock that can't be read delays calls only when the text is new.
   */
  #isStampUnheard(): boolean {
    const { clusterClock, timing } = this.context;
    if (!this.#record || clusterClock.sampledAt >= this.#acceptedAt) return false;
    if (this.#aheadOfClocks(this.#record) <= timing.clockTolerance) return false;
    return this.#stampSamples++ < MOST_STAMP_SAMPLES;
  }

  /** ms by which the clock that stamped the record is ahead of those sampled last. */
  #aheadOfClocks({ at }: R): number {
    return at - this.context.clusterClock.latest();
  }
}
