import { trySample } from '../clock/index.js';
import {
  CorruptRecordError,
  type Expiring,
  type View,
  hasRoom,
  isCountable,
  isDoubted,
  quoted,
} from '../decision/index.js';
import type { Notify } from '../store/index.js';
import type { Context } from '../context/context.js';
import { Deadline } from '../async/deadline.js';
import { KnownRecord, askTimeOf } from './known-record.js';
import { type Plan, type Step, type Write, instantOf } from './plan.js';
import { type SentWrite, Call, isUnclear } from './call.js';
import type { RecordCodec, RecordListener, StoredRecord } from './record-codec.js';
import type { Randomness } from '../async/random-ids.js';
import { SerialExecutor } from '../async/serial-executor.js';

/** A write of a record. */
interface SentRecordWrite<R extends StoredRecord, T> extends SentWrite, Pick<Write<R, T>, 'isDoneIn'> {
  readonly record: R;
  readonly text: string;
  readonly done: () => T;
  readonly notify: Notify;
}

/** Rounds of clock readings that one call waits for: the one that ran when the lease was first seen, and two more. */
const MOST_SAMPLES = 3;

/** A call of a plan. */
class RecordCall<R extends StoredRecord, T> extends Call<SentRecordWrite<R, T>> {
  /** Whether this call decides only from the record as it reads it, and no more from the text last seen. */
  isRead = false;
  #samples = 0;

  constructor(
    readonly plan: Plan<R, T>,
    deadline: Deadline,
    random: Randomness,
    subject: () => string,
  ) {
    super(deadline, random, subject);
  }

  /** Whether the call has time for another round of clock readings. Counts the round. */
  takeSample(): boolean {
    return this.#samples++ < MOST_SAMPLES && this.deadline.remaining > this.deadline.timeout / 2;
  }
}

/**
 * One record as this node knows it, and the only code that changes it: a loop of compare-and-set.
 *
 * ```
 *   transact ─▶ queue ─▶ plan, from the text last seen ─▶ compare-and-set ─▶ true: done
 *                                                             │ false, or no clear answer
 *        ┌──── back off (jittered from the third try) ◀───────┤        deadline over: UnknownOutcomeError,
 *        ▼                                                    │        or StoreUnavailableError if nothing was sent
 *      read ─▶ behind what this node knew, or doubted? restore│
 *        │                                       with a grace ┤
 *        │ ─▶ has this call's nonce? confirm by a write ──────┤
 *        │ ─▶ shows this call's effect? done                  │
 *        └──▶ plan, from the text read: a result, or a write ─┘
 * ```
 *
 * Normally a call takes one round trip, starting from the text last seen. A result without a write counts only if it
 * comes from a text that was read in this call.
 */
export class Cell<R extends StoredRecord> {
  readonly key: string;
  readonly #seen: KnownRecord<R>;
  readonly #listeners: RecordListener<R>[] = [];
  #queue = new SerialExecutor();
  #wasUsed = false;
  /** The look that waits for its turn. */
  #nextLook: Promise<void> | undefined;
  readonly #subject = () => `${this.codec.kind} ${quoted(this.name)}`;

  constructor(
    readonly name: string,
    private readonly codec: RecordCodec<R>,
    private readonly context: Context,
  ) {
    this.key = codec.keyPrefix + name;
    this.#seen = new KnownRecord(name, codec, context, {
      changed: (change) => this.#notify((listener) => listener.changed?.(change)),
      unreadable: (error) => this.#notify((listener) => listener.unreadable?.(error)),
    });
  }

  /** Adds a listener for the lifetime of this cell. */
  listen(listener: RecordListener<R>): void {
    this.#listeners.push(listener);
  }

  /** Whether the record was used since the last call of this method. */
  takeUse(): boolean {
    const wasUsed = this.#wasUsed;
    this.#wasUsed = false;
    return wasUsed;
  }

  /** The latest version that this node has seen; may be old. */
  get known(): R | undefined {
    return this.#seen.furthest;
  }

  /**
   * Carries out `plan`. Calls for one record run one after the other.
   *
   * @throws StoreUnavailableError if the store did not answer in time; then nothing was changed
   * @throws UnknownOutcomeError if a write was sent and its outcome is unknown
   * @throws CorruptRecordError or NewerRecordError if the record can't be read; it stays unchanged
   */
  transact<T>(plan: Plan<R, T>): Promise<T> {
    return this.#enqueue(plan);
  }

  /**
   * Takes over a text from a watch or a listing, unless it is older than the version that this node knows.
   *
   * @param askedAt for a listing: {@link askTimeOf} before it was asked for
   * @returns false if the text is older, or doubted: it arrived late, or the store lost data. Call {@link look} to find out.
   */
  observe(text: string, askedAt?: number): boolean {
    if (text === this.#seen.text) {
      this.#seen.observe(askedAt);
      this.#notify((listener) => listener.confirmed?.());
      return true;
    }
    if (isDoubted(text)) return false;
    const record = this.#seen.decode(text);
    if (this.#seen.isAheadOf(record)) return false;
    this.#seen.accept(text, record, askedAt);
    return true;
  }

  /**
   * Reads the record, and so restores it if the store lost it. All calls that wait for their turn share one look: hints may
   * come faster than the store answers. Same errors as {@link transact}.
   */
  look(): Promise<void> {
    if (this.#nextLook) return this.#nextLook;
    let hasBegun = false;
    const began = () => {
      hasBegun = true;
      this.#nextLook = undefined;
    };
    const looking = this.#enqueue<void>(() => ({ result: undefined }), began);
    if (!hasBegun) this.#nextLook = looking;
    return looking;
  }

  /**
   * Replaces a text that can't be read, or whose counts have no room for another write. Only for an operator: what the text
   * said is lost.
   *
   * @param make the record to write; gets this node's copy, if it has one
   * @returns false if the record is in order, or there is none
   * @throws NewerRecordError, and the errors of {@link transact}
   */
  repair(make: (known: R | undefined, view: View, nonce: string) => R): Promise<boolean> {
    const call = this.#call<boolean>(() => ({ result: true }));
    return this.#queue.run(async () => {
      for (let tries = 0; ; tries++) {
        const text = await call.ask(() => this.context.store.records.read(this.key, call));
        if (text === undefined || this.#isSound(text)) return tries > 0;
        if (!this.context.clusterClock.isFresh) await this.#setClock(call);
        const record = make(this.#seen.furthest, this.view(), this.context.random.id());
        if (await this.#replace(record, text, call)) return true;
        call.mayHaveReplaced = true;
        await call.backOff();
      }
    });
  }

  #isSound(text: string): boolean {
    try {
      return hasRoom(this.codec.decode(this.name, text));
    } catch (error) {
      if (error instanceof CorruptRecordError) return false;
      throw error;
    }
  }

  /** The view for a decision now. Call it only while cluster time is fresh. */
  view(): View {
    return this.#seen.view();
  }

  /** ms until another node may take over a lease that is not refreshed. Call it only while cluster time is fresh. */
  timeUntilExpiry(lease: Expiring): number {
    return this.#seen.timeUntilExpiry(lease);
  }

  /** Announces that this node waits for a change of the record. Call the returned function to end the wait. */
  awaitChanges(): () => void {
    return this.context.store.awaitChanges(this.key);
  }

  #enqueue<T>(plan: Plan<R, T>, began?: () => void): Promise<T> {
    this.#wasUsed = true;
    const call = this.#call(plan);
    return this.#queue.run(() => {
      began?.();
      return this.#carryOut(call);
    });
  }

  #call<T>(plan: Plan<R, T>): RecordCall<R, T> {
    const { timers, timing, random } = this.context;
    return new RecordCall(plan, new Deadline(timers, timing.callTimeout), random, this.#subject);
  }

  /** In the usual case the record was seen, cluster time is fresh, and the call awaits only one write. */
  #carryOut<T>(call: RecordCall<R, T>): Promise<T> {
    const isUsual = this.#seen.text !== undefined && this.context.clusterClock.isFresh;
    return isUsual ? this.#step(call) : this.#lookAndStep(call);
  }

  async #lookAndStep<T>(call: RecordCall<R, T>): Promise<T> {
    if (call.isRead || this.#seen.text === undefined) {
      await this.#read(call);
      call.isRead = true;
    }
    if (!this.context.clusterClock.isFresh) await this.#setClock(call);
    return this.#step(call);
  }

  #step<T>(call: RecordCall<R, T>): Promise<T> {
    const { plan, sentWrites } = call;
    const nonce = this.context.random.id();
    const step = call.isRead
      ? (this.#stepAfterUnknown(sentWrites, nonce) ?? plan(this.#seen.record, this.view(), nonce))
      : this.#planFromMemory(plan, nonce);
    if (this.#seen.takeSampleWish() && call.takeSample()) {
      // Plans again even if the sample failed, because time has passed.
      return trySample(this.context, call.deadline.timeout).then(() => this.#lookAndStep(call));
    }
    if (step && 'write' in step) return this.#write(this.#prepare(this.#countable(step)), call);
    if (!step || !call.isRead) return this.#readAndStep(call);
    if (call.isUncertain) step.unclear?.();
    return Promise.resolve(step.result);
  }

  #readAndStep<T>(call: RecordCall<R, T>): Promise<T> {
    call.isRead = true;
    return this.#lookAndStep(call);
  }

  /** Plans from the text last seen. @returns undefined if the plan throws, because that text may be old */
  #planFromMemory<T>(plan: Plan<R, T>, nonce: string): Step<R, T> | undefined {
    try {
      return plan(this.#seen.record, this.view(), nonce);
    } catch {
      return undefined; // a real error is thrown again after the record is read
    }
  }

  /**
   * Finds out whether a write of this call was applied although its answer was lost.
   *
   * If the record has the write's nonce, the write may still be in one copy only. That copy is lost with its
   * member, or with the smaller side of a split that no node has noticed yet. Only an answered write proves that the
   * other copies have it too. If another node has written since, the write is recognised by its effect.
   */
  #stepAfterUnknown<T>(sentWrites: readonly SentRecordWrite<R, T>[], nonce: string): Step<R, T> | undefined {
    const { record } = this.#seen;
    const written = sentWrites.find((sent) => sent.record.nonce === record?.nonce);
    if (!written || !record) {
      const overwritten = sentWrites.find(({ isDoneIn, isUncertain }) => isDoneIn?.(record, isUncertain));
      return overwritten && { result: overwritten.done() };
    }
    return { write: this.codec.rewrite(record, this.view(), nonce), done: written.done, notify: written.notify };
  }

  #prepare<T>({ write, done, notify = 'all', isDoneIn }: Write<R, T>): SentRecordWrite<R, T> {
    // Read before the request is sent. The holder counts from here, and takers count from when they see the record, so
    // the holder's lease ends first.
    const { nodeClock } = this.context;
    const sent = instantOf(nodeClock);
    return {
      record: write,
      text: this.codec.encode(write),
      done: () => done(sent),
      notify,
      isDoneIn,
      isUncertain: false,
    };
  }

  #write<T>(sent: SentRecordWrite<R, T>, call: RecordCall<R, T>): Promise<T> {
    call.sentWrites.push(sent);
    const { notify } = sent;
    const limits = { notify, deadline: call.deadline };
    return this.context.store.records.compareAndSet(this.key, this.#seen.text, sent.text, limits).then(
      (isWritten) => {
        if (!isWritten) return this.#tryAgain(call);
        // A hint of a later write may have arrived before this answer.
        if (!this.#seen.isAheadOf(sent.record)) this.#seen.keep(sent.text, sent.record);
        return sent.done();
      },
      (error: unknown) => {
        call.failed(sent, error);
        return this.#tryAgain(call);
      },
    );
  }

  /** @throws CorruptRecordError if no reader could read the record: then it could not be changed any more */
  #countable<S extends Pick<Write<R, unknown>, 'write'>>(step: S): S {
    if (isCountable(step.write)) return step;
    throw new CorruptRecordError(
      `${this.#subject()} has no room for another write: its counts are damaged, so reset it`,
    );
  }

  async #tryAgain<T>(call: RecordCall<R, T>): Promise<T> {
    await call.backOff();
    return this.#readAndStep(call);
  }

  async #read<T>(call: RecordCall<R, T>): Promise<void> {
    for (;;) {
      const askedAt = askTimeOf(this.context);
      const text = await call.ask(() => this.context.store.records.read(this.key, call));
      if (text !== undefined && text === this.#seen.text) return this.#seen.observe(askedAt);
      const record = text === undefined ? undefined : this.#seen.decode(text);
      const isLost = isDoubted(text);
      const { furthest = isLost ? record : undefined } = this.#seen;
      const isWhole = record && !isLost && !this.#seen.isAheadOf(record);
      if (!furthest || isWhole) return this.#seen.accept(text, record, askedAt);
      if (!this.context.clusterClock.isFresh) await this.#setClock(call);
      const restored = this.codec.restore(furthest, record, this.view(), this.context.random.id());
      if (await this.#replace(restored, text, call)) {
        this.#notify((listener) => listener.restored?.(restored));
        return;
      }
      await call.backOff();
    }
  }

  /** Writes a record in the place of a text that is lost or damaged. @returns false if that is not certain */
  async #replace<T>(record: R, found: string | undefined, call: RecordCall<R, T>): Promise<boolean> {
    const text = this.codec.encode(this.#countable({ write: record }).write);
    try {
      if (!(await this.context.store.records.compareAndSet(this.key, found, text, call))) return false;
    } catch (error) {
      // After a write was sent, only a further look tells what became of it.
      if (isUnclear(error) || call.hasSent) return false;
      throw error;
    }
    this.#seen.keep(text, record);
    return true;
  }

  #notify(call: (listener: RecordListener<R>) => void): void {
    for (const listener of this.#listeners) call(listener);
  }

  /** Samples the clocks. A node with an old sample decides nothing before that. */
  #setClock<T>(call: RecordCall<R, T>): Promise<void> {
    return call.ask(() => call.deadline.race(this.context.clusterClock.sample()));
  }
}
