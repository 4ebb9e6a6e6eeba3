import { LeaseExpiry } from '../clock/index.js';
import {
  CorruptRecordError,
  InvalidOptionsError,
  NewerRecordError,
  type SemaphoreRecord,
  type StoredPermit,
  type View,
  costFault,
  decodeRecord,
  intendedDefinition,
  isBehind,
  patternFaults,
  quoted,
} from '../decision/index.js';
import type { Context } from '../context/context.js';

/** Errors of a text that is no record, or not one for this version. They are told of once, where it is read. */
export const isUnreadable = (error: unknown): error is CorruptRecordError | NewerRecordError =>
  error instanceof CorruptRecordError || error instanceof NewerRecordError;

/** One semaphore's record as this node has seen it, and what that says of its leases and of the clocks. */
export class KnownRecord {
  #text?: string;
  #record?: SemaphoreRecord;
  #furthest?: SemaphoreRecord;
  /** The earliest that cluster time was at the last look at the record. */
  #lookedAt?: number;
  /** The text that was told of as unreadable. */
  #unreadable?: string;
  readonly #judge: LeaseExpiry;

  constructor(
    readonly name: string,
    private readonly context: Context,
  ) {
    this.#judge = new LeaseExpiry(context.clusterClock, context.nodeClock, context.timing.clockTolerance);
  }

  /** As last seen; undefined: never, or there is none. */
  get text(): string | undefined {
    return this.#text;
  }

  get record(): SemaphoreRecord | undefined {
    return this.#record;
  }

  /** The furthest that this node has seen the record: what is behind it lacks writes. */
  get furthest(): SemaphoreRecord | undefined {
    return this.#furthest;
  }

  /** Whether a record lacks writes that this node has seen. */
  isAheadOf(record: SemaphoreRecord): boolean {
    return this.#furthest !== undefined && isBehind(record, this.#furthest);
  }

  /** The view of this moment. Only while cluster time is fresh. */
  view(): View {
    return { now: this.context.clusterClock.latest(), isExpired: (lease) => this.#judge.isExpired(lease) };
  }

  /** ms until somebody may take a permit over that is not refreshed. Only while cluster time is fresh. */
  timeUntilExpiry(permit: StoredPermit): number {
    return this.#judge.timeUntilExpiry(permit);
  }

  /** Whether a sample of the clocks might have ended a lease that the last view held for alive; asking clears it. */
  takeSampleWish(): boolean {
    return this.#judge.takeSampleWish();
  }

  /**
   * Tells of a text that can't be read once, not at each of the calls that it denies.
   *
   * @throws CorruptRecordError or NewerRecordError
   */
  decode(text: string): SemaphoreRecord {
    try {
      return decodeRecord(this.name, text);
    } catch (error) {
      if (text !== this.#unreadable) {
        this.context.events.next({ type: 'record-unreadable', semaphore: this.name, error: error as Error });
      }
      this.#unreadable = text;
      throw error;
    }
  }

  /** What was read, or heard of: written by anyone. */
  accept(text: string | undefined, record: SemaphoreRecord | undefined): void {
    this.#checkStamp(record);
    this.#text = text;
    this.#record = record;
    if (record) this.#advance(record);
    this.observe();
  }

  /** What this node wrote itself, and so has stamped by its own reading of cluster time. */
  keep(text: string, record: SemaphoreRecord): void {
    this.#text = text;
    this.#record = record;
    this.#advance(record);
    this.#note();
    // Not the moment of the answer: somebody else may have written meanwhile.
    this.#lookedAt = Math.min(record.at, this.context.clusterClock.earliest());
  }

  /** It was looked at, and is as it was. */
  observe(): void {
    this.#note();
    if (this.context.clusterClock.isFresh) this.#lookedAt = this.context.clusterClock.earliest();
  }

  #advance(record: SemaphoreRecord): void {
    const former = this.#furthest;
    this.#furthest = record;
    if (former?.nonce !== record.nonce) this.context.news.next(this.name);
    if (former?.revision !== record.revision) this.#checkPatterns(record);
    if (!former || former.revision === record.revision) return;
    const { revision, change } = record;
    this.context.events.next({ type: 'changed', semaphore: this.name, revision, ...(change && { change }) });
  }

  /** Tells once per revision of stored patterns that cost too much. Compiles none: a node reads every record. */
  #checkPatterns(record: SemaphoreRecord): void {
    const definition = intendedDefinition(record);
    const faults = definition ? patternFaults(definition, costFault) : [];
    if (faults.length === 0) return;
    const error = new InvalidOptionsError(`the definition of semaphore ${quoted(this.name)}`, faults);
    this.context.events.next({ type: 'problem', semaphore: this.name, action: 'check its patterns', error });
  }

  #note(): void {
    this.#unreadable = undefined;
    const { permits = [], grace } = this.#record ?? {};
    this.#judge.observe(grace ? [...permits, grace] : permits);
  }

  /**
   * A record first seen between two looks was stamped between them, unless clocks differ. The slack is the tolerance
   * and, since the stamp is older than the write, the longest that a call may take.
   */
  #checkStamp(record: SemaphoreRecord | undefined): void {
    const { clusterClock, timing } = this.context;
    if (!record || !clusterClock.isFresh || record.seq === this.#furthest?.seq) return;
    const ahead = record.at - clusterClock.latest();
    const behind = this.#lookedAt === undefined ? 0 : this.#lookedAt - record.at - timing.callTimeout;
    const apart = Math.max(ahead, behind);
    if (apart <= timing.clockTolerance) return;
    clusterClock.suspect(`a record of ${quoted(this.name)} was stamped ${apart} ms off this node's cluster time`);
  }
}
