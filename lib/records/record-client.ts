import { type Expiring, type View, quoted } from '../decision/index.js';
import { type Notify, StoreUnavailableError, UnknownOutcomeError } from '../stores/index.js';
import type { Context } from '../context/context.js';
import { type Backoff, pauseAfter } from '../async/backoff.js';
import { Deadline, DeadlinePassed } from '../async/deadline.js';
import { KnownRecord } from './known-record.js';
import type { Plan, Step, Write } from './plan.js';
import type { RecordCodec, RecordListener, StoredRecord } from './record-codec.js';
import { SerialQueue } from '../async/serial-queue.js';

interface Attempt<R extends StoredRecord, T> extends Pick<Write<R, T>, 'isDoneIn'> {
  readonly record: R;
  readonly text: string;
  readonly done: () => T;
  readonly notify: Notify;
  /** Its answer was lost. */
  isUncertain: boolean;
}

/** Rounds of readings that one call waits for: one that was under way when the lease was first seen, and two more. */
const MOST_SAMPLES = 3;

const CONTENTION: Backoff = { first: 4, longest: 200, jitter: 1 };

/**
 * One record, as this node knows it, and the only way to change it: a loop of compare-and-set.
 *
 * ```
 *   transact ─▶ queue ─▶ plan, from the text last seen ─▶ compare-and-set ─▶ true: done
 *                                                             │ false, or no clear answer
 *        ┌──── back off (jittered from the third try) ◀───────┤        deadline over: UnknownOutcomeError,
 *        ▼                                                    │        or StoreUnavailableError if nothing was sent
 *      read ─▶ behind what this node knew? restore with grace ┤
 *        │ ─▶ own nonce stands there? confirm by a write ─────┤
 *        │ ─▶ own effect stands there? done                   │
 *        └──▶ plan, from the text read: a result, or a write ─┘
 * ```
 *
 * Steady state is one round trip, straight from the text last seen. A result counts only if it comes from a text that
 * was read in this call.
 */
export class RecordClient<R extends StoredRecord> {
  readonly key: string;
  readonly #seen: KnownRecord<R>;
  readonly #listeners: RecordListener<R>[] = [];
  #queue = new SerialQueue();
  #wasUsed = false;

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

  /** Notifies the listener for as long as this client lives. */
  listen(listener: RecordListener<R>): void {
    this.#listeners.push(listener);
  }

  /** True if the record was used since the last call of this. */
  takeUse(): boolean {
    const wasUsed = this.#wasUsed;
    this.#wasUsed = false;
    return wasUsed;
  }

  /** As this node last knew it; may be old. */
  get known(): R | undefined {
    return this.#seen.furthest;
  }

  /**
   * Carries out `plan`. Calls for one record run one after the other.
   *
   * @throws StoreUnavailableError when the store could not be asked in time; surely nothing was changed
   * @throws UnknownOutcomeError when a write was sent and its outcome is unknown
   * @throws CorruptRecordError or NewerRecordError when the record can't be read; it is left as it is
   */
  transact<T>(plan: Plan<R, T>): Promise<T> {
    this.#wasUsed = true;
    const deadline = new Deadline(this.context.timers, this.context.timing.callTimeout);
    return this.#queue.run(() => this.#carryOut(plan, deadline));
  }

  /**
   * Takes in a text that a watch or a listing shows: never believed when it is older than what is known.
   *
   * @returns false when it is older: late news, or the store lost what this node knows. {@link look} tells.
   */
  observe(text: string): boolean {
    if (text === this.#seen.text) {
      this.#seen.observe();
      this.#notify((listener) => listener.confirmed?.());
      return true;
    }
    const record = this.#seen.decode(text);
    if (this.#seen.isAheadOf(record)) return false;
    this.#seen.accept(text, record);
    return true;
  }

  /** Reads the record, which puts it back when the store lost it. Errors as of {@link transact}. */
  look(): Promise<void> {
    return this.transact<void>(() => ({ result: undefined }));
  }

  /** The view of this moment. Only while cluster time is fresh. */
  view(): View {
    return this.#seen.view();
  }

  /** ms until another node may take over a lease that is not refreshed. Only while cluster time is fresh. */
  timeUntilExpiry(lease: Expiring): number {
    return this.#seen.timeUntilExpiry(lease);
  }

  /** Says that this node waits for a change of the record, until the returned function is called. */
  awaitChanges(): () => void {
    return this.context.store.awaitChanges(this.key);
  }

  async #carryOut<T>(plan: Plan<R, T>, deadline: Deadline): Promise<T> {
    const attempts: Attempt<R, T>[] = [];
    let isRead = false;
    let samples = 0;
    for (;;) {
      if (isRead || this.#seen.text === undefined) {
        await this.#read(deadline, attempts);
        isRead = true;
      }
      // In the steady state only the write itself is awaited.
      if (!this.context.clusterClock.isFresh) await this.#setClock(deadline, attempts);
      const nonce = this.context.random.id();
      const step = isRead
        ? (this.#settle(attempts, nonce) ?? plan(this.#seen.record, this.view(), nonce))
        : this.#planFromMemory(plan, nonce);
      if (this.#seen.takeSampleWish() && samples++ < MOST_SAMPLES && deadline.remaining > deadline.timeout / 2) {
        await this.#trySample(deadline);
        // Planned anew in any case: time has passed.
        continue;
      }
      if (step && 'result' in step && isRead) return step.result;
      if (step && 'write' in step) {
        const attempt = this.#prepare(step);
        if (await this.#write(attempt, deadline, attempts)) return attempt.done();
        await this.#backOff(attempts.length, deadline);
      }
      isRead = true;
    }
  }

  /** Straight from what this node last saw. @returns undefined when the plan objects to that: it may be old */
  #planFromMemory<T>(plan: Plan<R, T>, nonce: string): Step<R, T> | undefined {
    try {
      return plan(this.#seen.record, this.view(), nonce);
    } catch {
      return undefined; // if the error is real, it comes again after reading the record
    }
  }

  /**
   * Finds out whether an attempt of this call was applied although its answer was lost.
   *
   * One that stands in the record may stand there in one copy only, which goes with its member, or with the smaller side
   * of a split that no node has noticed yet: only a write that is answered proves that the other copies have it, too. One
   * that another writer wrote over is known by its effect.
   */
  #settle<T>(attempts: readonly Attempt<R, T>[], nonce: string): Step<R, T> | undefined {
    const { record } = this.#seen;
    const written = attempts.find((attempt) => attempt.record.nonce === record?.nonce);
    if (!written || !record) {
      const overwritten = attempts.find(({ isDoneIn, isUncertain }) => isDoneIn?.(record, isUncertain));
      return overwritten && { result: overwritten.done() };
    }
    return { write: this.codec.rewrite(record, this.view(), nonce), done: written.done, notify: written.notify };
  }

  #prepare<T>({ write, done, notify = 'all', isDoneIn }: Write<R, T>): Attempt<R, T> {
    // Before the request leaves: a holder that counts from here ends before takers that count from when they see it.
    const { nodeClock } = this.context;
    const sent = { monotonic: nodeClock.monotonic(), wall: nodeClock.wall() };
    return {
      record: write,
      text: this.codec.encode(write),
      done: () => done(sent),
      notify,
      isDoneIn,
      isUncertain: false,
    };
  }

  /** @returns whether it was surely written; if not, the attempt is noted, because it may have been or may still be */
  #write<T>(attempt: Attempt<R, T>, deadline: Deadline, attempts: Attempt<R, T>[]): Promise<boolean> {
    attempts.push(attempt);
    const writing = this.context.store.compareAndSet(this.key, this.#seen.text, attempt.text, attempt);
    return deadline.race(writing).then(
      (isWritten) => {
        // News of a later write may have overtaken this answer.
        if (isWritten && !this.#seen.isAheadOf(attempt.record)) this.#seen.keep(attempt.text, attempt.record);
        return isWritten;
      },
      (error: unknown) => this.#failed(attempt, error, deadline, attempts),
    );
  }

  /** @returns false when the write may have been applied, or may still be */
  #failed<T>(attempt: Attempt<R, T>, error: unknown, deadline: Deadline, attempts: Attempt<R, T>[]): false {
    attempt.isUncertain = error instanceof UnknownOutcomeError;
    if (attempt.isUncertain) return false;
    if (error instanceof DeadlinePassed) throw this.#unanswered(deadline, attempts);
    attempts.pop();
    throw attempts.length > 0 ? this.#unanswered(deadline, attempts, error) : error;
  }

  async #read<T>(deadline: Deadline, attempts: readonly Attempt<R, T>[]): Promise<void> {
    for (let tries = 0; ; tries++) {
      const text = await this.#ask(() => this.context.store.read(this.key), deadline, attempts);
      if (text !== undefined && text === this.#seen.text) return this.#seen.observe();
      const record = text === undefined ? undefined : this.#seen.decode(text);
      const { furthest } = this.#seen;
      if (!furthest || (record && !this.codec.isBehind(record, furthest))) return this.#seen.accept(text, record);
      if (!this.context.clusterClock.isFresh) await this.#setClock(deadline, attempts);
      const restored = this.codec.restore(furthest, record, this.view(), this.context.random.id());
      if (await this.#restore(restored, text, deadline)) return;
      await this.#backOff(tries, deadline);
    }
  }

  /** The store lost writes that this node has seen: puts back what it knows, with a grace. */
  async #restore(record: R, found: string | undefined, deadline: Deadline): Promise<boolean> {
    const text = this.codec.encode(record);
    try {
      if (!(await deadline.race(this.context.store.compareAndSet(this.key, found, text)))) return false;
    } catch (error) {
      if (error instanceof UnknownOutcomeError || error instanceof DeadlinePassed) return false;
      throw error;
    }
    this.#seen.keep(text, record);
    this.#notify((listener) => listener.restored?.(record));
    return true;
  }

  #notify(call: (listener: RecordListener<R>) => void): void {
    for (const listener of this.#listeners) call(listener);
  }

  /** A node whose last sample is too old decides nothing before it has sampled again. */
  async #setClock<T>(deadline: Deadline, attempts: readonly Attempt<R, T>[]): Promise<void> {
    await this.#ask(() => this.context.clusterClock.sample(), deadline, attempts);
  }

  /** A member whose clock can't be read must not fail a call that can do without, nor take up its time. */
  async #trySample({ timeout }: Deadline): Promise<void> {
    const patience = new Deadline(this.context.timers, timeout / 4);
    await patience.race(this.context.clusterClock.sample()).catch(() => undefined);
  }

  async #ask<A, T>(call: () => Promise<A>, deadline: Deadline, attempts: readonly Attempt<R, T>[]): Promise<A> {
    try {
      if (deadline.remaining <= 0) throw new DeadlinePassed();
      return await deadline.race(call());
    } catch (error) {
      if (error instanceof DeadlinePassed || attempts.length > 0) throw this.#unanswered(deadline, attempts, error);
      throw error;
    }
  }

  /** An unknown outcome never counts as done: a write on its way may still change the record. */
  #unanswered<T>(deadline: Deadline, attempts: readonly Attempt<R, T>[], cause?: unknown): Error {
    const what = `${this.codec.kind} ${quoted(this.name)}: the store gave no clear answer within ${deadline.timeout} ms`;
    if (attempts.length > 0) return new UnknownOutcomeError(`${what}, and a write may have been applied`, { cause });
    return new StoreUnavailableError(what, { cause });
  }

  /** The first time at once; then jittered, so that nodes that collided don't collide again. */
  async #backOff(tries: number, deadline: Deadline): Promise<void> {
    if (tries > 1) await deadline.pause(pauseAfter(tries, this.context.random.number(), CONTENTION));
  }
}
