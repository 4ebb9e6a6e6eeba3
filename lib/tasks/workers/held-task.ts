import { z } from 'zod';
import { LazyAbort } from '../../core/async/lazy-abort.js';
import type { CancelTimer } from '../../core/async/node-clock.js';
import { pause } from '../../core/async/pause.js';
import { SerialExecutor } from '../../core/async/serial-executor.js';
import { type Context, timeOf } from '../../core/context/context.js';
import {
  InvalidOptionsError,
  readDuration,
  faultsOf,
  lineSchema,
  onlyFields,
  show,
} from '../../core/decision/index.js';
import { LONGEST_BLINK } from '../../core/permits/lease.js';
import { type Instant, instantOf } from '../../core/cell/plan.js';
import { isStoreError } from '../../core/store/index.js';
import type { CancelAuthor } from '../records/cancel.js';
import type { Claim } from '../rules/claim.js';
import type { TaskStore } from '../records/task-store.js';
import { LeaseExpiredError, TaskCancelledError, TaskTimeoutError } from '../rules/tasks.errors.js';
import type { TaskLease } from './task-handler.js';

/** Part of the lease in which renewals that are due come together: then one write to the connection carries all of them. */
const TOGETHER = 1 / 12;
/** ms before the end is noted again after the store gave no clear answer. */
const RETRY = 500;

export interface HeldOptions {
  /** ms */
  readonly lease: number;
  /** Whether the lease is renewed while the handler works. */
  readonly keepAlive: boolean;
  /** ms after which the signal aborts, however often the lease is renewed. */
  readonly maxDuration?: number | undefined;
}

/**
 * A claimed task, as long as this node may count on it: from before the claim was sent, less `clockTolerance`. The monotonic
 * clock may stop while the machine sleeps, and the wall clock may jump; the one that is further ahead counts. So the signal
 * aborts before another node can take the task, unless this process is frozen or asleep: then soon after it.
 */
export class HeldTask implements TaskLease {
  /** Tells the work to stop. */
  readonly #work = new LazyAbort();
  /** Changes of one claim must come one after another. */
  readonly #changes = new SerialExecutor();
  #until: Instant;
  #cancelEnd?: CancelTimer;
  #cancelRenewal?: CancelTimer;
  readonly #cancelTimeout: CancelTimer | undefined;
  #hasBegun = false;
  #isEnding = false;
  /** Whether the lease has ended, or the attempt. */
  #isOver = false;
  /** Whether the lease is kept alive. */
  #isRenewed: boolean;
  readonly #progress: ProgressReports;

  /**
   * @param sent before the claim was sent
   * @param closed aborts when this node notes nothing any more: its store is about to be closed
   */
  constructor(
    readonly claim: Claim,
    private readonly options: HeldOptions,
    private readonly store: TaskStore,
    private readonly context: Context,
    sent: Instant,
    private readonly closed: AbortSignal,
  ) {
    this.#until = this.#endOf(sent, options.lease);
    this.#watch();
    this.#isRenewed = options.keepAlive;
    if (options.keepAlive) this.#renewAfterThird();
    this.#cancelTimeout = this.#endAfter(options.maxDuration);
    this.#progress = new ProgressReports(claim, context, () => this.#report());
  }

  get signal(): AbortSignal {
    return this.#work.signal;
  }

  /** Why the signal has aborted; undefined before. */
  get reason(): Error | undefined {
    return this.#work.reason;
  }

  get remaining(): number {
    return this.#work.isAborted ? 0 : this.left;
  }

  /** ms for which this node owns the task, also after the signal aborted. */
  get left(): number {
    if (this.#isOver) return 0;
    const { monotonic, wall } = instantOf(this.context.nodeClock);
    return Math.max(0, Math.min(this.#until.monotonic - monotonic, this.#until.wall - wall));
  }

  /**
   * Call it just before the work begins: a process that stood still sees answers of the store before its timers ring.
   *
   * @throws the signal's reason, LeaseExpiredError
   */
  expectOwned(): void {
    if (this.left === 0)
      this.abort(new LeaseExpiredError(this.claim.task.id, 'its lease ended before its handler began'));
    this.#work.throwIfAborted();
    this.#hasBegun = true;
  }

  /** Whether {@link expectOwned} let the work begin. */
  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  async renew(duration: number | string = this.options.lease): Promise<void> {
    const lease = readDuration(duration);
    if (typeof lease === 'string') throw new InvalidOptionsError('lease.renew()', [lease]);
    await this.#changes.run(() => this.#whileWanted(() => this.#renew(lease)));
  }

  /**
   * Notes in the task that it will have sub-tasks.
   *
   * @returns the incarnation of their group
   * @throws as {@link renew}
   */
  split(): Promise<number> {
    return this.#changes.run(async () => {
      const split = () => this.#change(() => this.store.split(this.claim));
      if (this.claim.task.split === undefined) await this.#whileWanted(split);
      return this.claim.task.split!;
    });
  }

  /** Cancels the task, which this node works on. @throws TaskCancelledError, or as {@link renew} */
  cancel(author: CancelAuthor): Promise<void> {
    return this.#changes.run(() => this.#whileWanted(() => this.#change(() => this.store.cancel(this.claim, author))));
  }

  /** @throws InvalidOptionsError */
  report(done: number, total: number, note?: string): void {
    this.#progress.report(done, total, note);
  }

  /**
   * A last change, after which this node does not own the task. It is tried again after an error of the store, while this
   * node owns the task and is not closed: it is made once.
   */
  async finish(change: (claim: Claim) => Promise<void>): Promise<void> {
    this.#isEnding = true;
    this.#cancelRenewal?.();
    this.#progress.close();
    for (;;) {
      try {
        return await this.#changes.run(() => change(this.claim));
      } catch (error) {
        if (!isStoreError(error) || this.left <= RETRY || this.closed.aborted) throw error;
        await pause(this.context.nodeClock, RETRY, { signal: this.closed });
      }
    }
  }

  /**
   * Tells the work to stop. This node owns the task until the lease ends.
   *
   * @param isRenewed whether the lease goes on as before, however long the work takes
   */
  interrupt(error: Error | (() => Error), isRenewed = false): void {
    this.#isRenewed &&= isRenewed;
    if (!this.#isRenewed) this.#cancelRenewal?.();
    this.#cancelTimeout?.();
    this.#work.abort(error);
  }

  /**
   * Ends the attempt: this node shuts down, or has lost the task, or its end is noted.
   *
   * @param error the reason of the signal, or a function that makes it
   */
  abort(error: Error | (() => Error)): void {
    this.#isOver = true;
    this.#progress.close();
    this.#cancelEnd?.();
    this.interrupt(error);
  }

  /** A change on behalf of the work. @throws the signal's reason after it aborted */
  async #whileWanted(change: () => Promise<void>): Promise<void> {
    this.#work.throwIfAborted();
    await change();
    this.#work.throwIfAborted();
  }

  async #renew(lease: number): Promise<void> {
    const sent = instantOf(this.context.nodeClock);
    await this.#change(() => this.store.renew(this.claim, lease));
    const until = this.#endOf(sent, lease);
    if (until.monotonic >= this.#until.monotonic) this.#until = until;
  }

  async #change(change: () => Promise<void>): Promise<void> {
    this.#throwIfOver();
    // A change that waited behind the end of the attempt must not change the task any more.
    if (this.#isEnding) throw new LeaseExpiredError(this.claim.task.id, 'its handler has ended');
    try {
      await change();
    } catch (error) {
      if (error instanceof LeaseExpiredError) this.abort(error);
      throw error;
    }
    this.#progress.written();
    const { id, cancel } = this.claim.task;
    if (cancel) this.interrupt(new TaskCancelledError(id, cancel));
    // The lease may have ended before the answer came: then the work has stopped already, and another node may have it.
    this.#throwIfOver();
  }

  /** Where the lease is kept alive, the write also renews it, and the next renewal is due later. */
  async #report(): Promise<void> {
    const { lease } = this.options;
    const isRenewed = this.#isRenewed;
    const change = () => (isRenewed ? this.#renew(lease) : this.#change(() => this.store.report(this.claim)));
    await this.#changes.run(change);
    if (!isRenewed || !this.#isRenewed || this.#isEnding) return;
    this.#cancelRenewal?.();
    this.#renewAfterThird();
  }

  #throwIfOver(): void {
    if (this.#isOver) this.#work.throwIfAborted();
  }

  #endOf({ monotonic, wall }: Instant, lease: number): Instant {
    const counted = lease - this.context.timing.clockTolerance;
    return { monotonic: monotonic + counted, wall: wall + counted };
  }

  /** Timers stop while the machine sleeps: one for the end alone would ring late by as long as that. */
  #watch(): void {
    this.#cancelEnd = this.context.nodeClock.schedule(() => this.#look(), Math.min(this.left, LONGEST_BLINK));
  }

  #look(): void {
    if (this.left > 0) this.#watch();
    else this.abort(new LeaseExpiredError(this.claim.task.id, 'its lease ended before it was renewed'));
  }

  #endAfter(duration: number | undefined): CancelTimer | undefined {
    if (duration === undefined) return undefined;
    const end = () => this.interrupt(new TaskTimeoutError(this.claim.task.id, duration));
    return this.context.nodeClock.schedule(end, duration);
  }

  /** At the last common time of all tasks with this lease before a third of it is over. */
  #renewAfterThird(): void {
    const { lease } = this.options;
    const step = lease * TOGETHER;
    // A ms of tolerance: a timer that rings a little early must not shorten the next interval by a whole step.
    const longest = lease / 3 + 1;
    this.#renewIn(longest - ((this.context.nodeClock.monotonic() + longest) % step));
  }

  #renewIn(delay: number): void {
    this.#cancelRenewal = this.context.nodeClock.schedule(() => void this.#keepAlive(), delay);
  }

  async #keepAlive(): Promise<void> {
    const { lease } = this.options;
    let retry: number | undefined;
    try {
      await this.#changes.run(() => this.#renew(lease));
    } catch (error) {
      if (this.#isOver) return;
      this.context.events.next({ type: 'problem', action: 'renew the lease of a task', error });
      retry = Math.min(1000, lease / 10);
    }
    if (this.#isEnding || !this.#isRenewed) return;
    if (retry === undefined) this.#renewAfterThird();
    else this.#renewIn(retry);
  }
}

/** ms after a report within which it is written. So one write serves all reports of this time. */
const REPORT_WITHIN = 1000;
const LONGEST_NOTE = 200;

const notANumber = ({ input }: { input?: unknown }) => `${show(input)} is not a number from 0 on`;
const amountSchema = z.number({ error: notANumber }).min(0, { error: notANumber });
const progressSchema = onlyFields({
  done: amountSchema,
  total: amountSchema,
  note: lineSchema(LONGEST_NOTE).optional(),
});

/**
 * The reports of progress of one attempt. Every write of the claim takes the latest one along: a renewal, or the end. If
 * none comes within a second, `write` is called for it.
 */
class ProgressReports {
  #cancelTimer?: CancelTimer | undefined;
  #isOver = false;

  /** @param write changes the claim; called at most once a second */
  constructor(
    private readonly claim: Claim,
    private readonly context: Pick<Context, 'nodeClock' | 'clusterClock' | 'events'>,
    private readonly write: () => Promise<void>,
  ) {}

  /** @throws InvalidOptionsError */
  report(done: number, total: number, note?: string): void {
    const { data, error: fault } = progressSchema.safeParse({ done, total, ...(note !== undefined && { note }) });
    if (!data) throw new InvalidOptionsError(`the progress of task ${show(this.claim.task.id)}`, faultsOf(fault));
    if (this.#isOver) return;
    this.claim.progress = { done, total, ...(note !== undefined && { note }), at: this.#now };
    this.#cancelTimer ??= this.context.nodeClock.schedule(() => void this.#flush(), REPORT_WITHIN);
  }

  /** The claim was written. A report that came meanwhile still waits. */
  written(): void {
    if (this.claim.task.progress === this.claim.progress) this.#stop();
  }

  /** Later reports have no effect. The last one is written with the end of the attempt. */
  close(): void {
    this.#isOver = true;
    this.#stop();
  }

  get #now(): number {
    return timeOf(this.context);
  }

  async #flush(): Promise<void> {
    this.#cancelTimer = undefined;
    try {
      await this.write();
    } catch (cause) {
      // The next write of the claim takes it along.
      if (!this.#isOver)
        this.context.events.next({ type: 'problem', action: 'note the progress of a task', error: cause });
    }
  }

  #stop(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
  }
}
