import { Deadline } from '../../core/async/deadline.js';
import { pause } from '../../core/async/pause.js';
import { instantOf } from '../../core/cell/plan.js';
import { StoreUnavailableError } from '../../core/store/index.js';
import type { TaskLimits } from '../rules/task.js';
import type { WorkerState } from '../rules/views.js';
import { LeaseExpiredError, TasksClosingError } from '../rules/tasks.errors.js';
import { Attempt, type AttemptParts } from './attempt.js';
import { HeldTask, type HeldOptions } from './held-task.js';
import { type Hint, HintSource, nameIn } from './hint-source.js';
import type { AddressedTasks } from './addressed-tasks.js';
import { type Admission, Admissions } from '../admission/admission.js';
import type { TypeLimit, TypePermit } from '../admission/type-limit.js';

export interface WorkerOptions extends HeldOptions {
  /** Tasks of the type at the same time on this node. */
  readonly concurrency: number;
  /** Limits that each claimed task gets; absent: it keeps those that it has. */
  readonly limits?: TaskLimits;
}

interface WorkerParts extends AttemptParts {
  readonly limit: TypeLimit;
  readonly addressed: AddressedTasks;
}

/** ms before a hint is tried again whose claim failed because of the store. */
const RETRY = 500;

/** Attempts one after another under one admission. */
interface Series {
  /** The task whose handler runs. */
  held?: HeldTask | undefined;
}

/** The workers of this node for one type of tasks: takes a hint, claims its task, and runs the handler. */
export class TypeWorker {
  readonly #source: HintSource;
  readonly #running = new Map<Promise<void>, Series>();
  readonly #admissions: Admissions;
  readonly #addressed = { room: () => this.#admissions.room, found: () => this.#source.notify() };
  #loop?: Promise<void>;
  /** Aborts when no end of a task is noted any more. */
  readonly #closed = new AbortController();
  /** Aborts a wait for a permit. */
  #waiting?: AbortController;
  #changed: () => void = () => undefined;

  constructor(
    readonly type: string,
    private readonly handler: (held: HeldTask) => unknown,
    private readonly options: WorkerOptions,
    private readonly parts: WorkerParts,
  ) {
    const changed = () => this.#changed();
    this.#admissions = new Admissions(options.concurrency, parts.limit, parts.context.nodeClock, changed);
    this.#source = new HintSource(type, parts.store.hints, parts.context, parts.addressed);
    parts.addressed.add(type, this.#addressed);
  }

  start(): void {
    this.#loop ??= this.#work();
  }

  /** Takes no more tasks. The running ones go on. Idempotent. */
  pause(): void {
    this.#admissions.pause();
    this.#source.stopWaiting();
    this.#wake();
  }

  /** Takes tasks again after {@link pause}. Idempotent. */
  resume(): void {
    this.#admissions.resume();
    this.#wake();
  }

  /** Whether the type is paused for all nodes, as this node knows. `pauseType()` has no effect on it. */
  get isLimitPaused(): boolean {
    return this.parts.limit.obstacle === 'paused';
  }

  /** Makes sure that {@link isLimitPaused} is known. @throws as {@link TypeLimit.learn} */
  learnLimit(): Promise<void> {
    return this.parts.limit.learn();
  }

  /** Does not ask the store. */
  get state(): WorkerState {
    const { obstacle } = this.#admissions;
    const running = [...this.#running.values()].filter(({ held }) => held !== undefined).length;
    return { concurrency: this.options.concurrency, running, ...(obstacle && { obstacle }) };
  }

  /** Takes no more tasks for good, and waits for the running ones, however long they take. Idempotent. */
  async retire(): Promise<void> {
    this.parts.addressed.remove(this.type, this.#addressed);
    this.#takeNoMore();
    await Promise.all([this.#source.close(), this.#loop]);
    await Promise.all(this.#running.keys());
  }

  /**
   * Takes no more tasks, and waits for the running ones. After `grace` ms their signals abort. Work that goes on after that
   * keeps its lease: the task goes to another node when it is over.
   */
  async close(grace: number): Promise<void> {
    this.#takeNoMore();
    await Promise.all([this.#source.close(), this.#loop]);
    if (await this.#drained(grace)) return;
    for (const { held } of this.#running.values()) held?.abort(new TasksClosingError());
    // A handler that reacts to its signal gives the task back: that takes one call of the store.
    await this.#drained(this.parts.context.timing.callTimeout);
    // If the store is away, the sweep of another node finds the others. Their leases must not keep the process alive.
    this.#closed.abort();
  }

  #takeNoMore(): void {
    this.#admissions.close();
    this.#wake();
  }

  async #work(): Promise<void> {
    while (!this.#admissions.isClosed) {
      const { room, ahead } = this.#admissions;
      if (room === 0) await new Promise<void>((resolve) => (this.#changed = resolve));
      else if (this.parts.limit.isShut) await this.#beginUnderPermit();
      else for (const hint of await this.#source.take(room, ahead)) this.#begin(hint);
    }
  }

  #wake(): void {
    this.#waiting?.abort();
    // A second abort() would make another error in vain.
    this.#waiting = undefined;
    this.#changed();
  }

  /** Waits for a permit, and takes a hint under it. Without a hint the permit goes to other nodes. */
  async #beginUnderPermit(): Promise<void> {
    const waiting = (this.#waiting = new AbortController());
    const permit = await this.parts.limit.wait(waiting.signal);
    if (!permit) return;
    const [hint] = this.#admissions.isWanted ? await this.#source.takeNow(1) : [];
    if (hint) return this.#begin(hint, permit);
    this.parts.limit.open();
    await permit.release();
  }

  #begin(hint: Hint, permit?: TypePermit): void {
    const series: Series = {};
    const admission = this.#admissions.admit(permit);
    const running: Promise<void> = this.#serve(hint, admission, series).finally(() => this.#running.delete(running));
    this.#running.set(running, series);
  }

  /** Runs one attempt, and others after it while their permit may be used again. Never rejects. */
  async #serve(first: Hint, admission: Admission, series: Series): Promise<void> {
    await admission.askLimit();
    // Without a permit the first hint goes back, and there is no other one.
    for (let hint: Hint | undefined = first; hint; hint = await this.#next(admission)) {
      if (this.#admissions.isWanted && admission.isValid) await this.#run(hint, admission, series);
      else await this.#source.giveBack(hint);
      series.held = undefined;
    }
    await admission.giveBack();
  }

  async #next(admission: Admission): Promise<Hint | undefined> {
    if (!this.#admissions.isWanted || !admission.mayContinue) return undefined;
    const [hint] = await this.#source.takeNow(1);
    return hint;
  }

  /** Never rejects. */
  async #run(hint: Hint, admission: Admission, series: Series): Promise<void> {
    const { store, context } = this.parts;
    let unguard: (() => void) | undefined;
    try {
      const sent = instantOf(context.nodeClock);
      const claim = await store.claim(hint.text, this.options.lease, undefined, this.options.limits);
      if (!claim) return;
      const held = new HeldTask(claim, this.options, store, context, sent, this.#closed.signal);
      unguard = admission.guard(held);
      if (!(await admission.hasTurn()) || !this.#admissions.isWanted) return await this.#undo(held);
      series.held = held;
      await new Attempt(held, this.parts).run(() => this.#handle(held, admission, series));
    } catch (error) {
      context.events.next({ type: 'problem', action: `claim ${nameIn(hint)}`, error });
      if (!(error instanceof StoreUnavailableError)) return;
      // Surely not claimed: this node, or another one, tries it again. In all other cases the sweep finds the task.
      await pause(context.nodeClock, RETRY, { isAwaited: false });
      await this.#source.giveBack(hint);
    } finally {
      unguard?.();
    }
  }

  async #handle(held: HeldTask, admission: Admission, series: Series): Promise<unknown> {
    const result = await this.#admissions.measure(() => this.handler(held));
    // A failure is noted first: it may stop the group of the next task.
    if (admission.handlerEnded()) series.held = undefined;
    return result;
  }

  /** The task was claimed, and its handler does not begin: it goes to another node. Never rejects. */
  async #undo(held: HeldTask): Promise<void> {
    if (this.#admissions.isWanted) this.#admissions.noteLong();
    const { store, context } = this.parts;
    const { id } = held.claim.task;
    try {
      await held.finish((claim) => store.giveBack(claim));
    } catch (error) {
      // It may still be claimed. Then the sweep finds it when its lease is over.
      context.events.next({ type: 'problem', action: `give task ${id} back`, error });
    }
    held.abort(() => new LeaseExpiredError(id, 'it was given back'));
  }

  async #drained(ms: number): Promise<boolean> {
    const { timers } = this.parts.context;
    const over = Promise.all(this.#running.keys());
    return new Deadline(timers, ms).race(over).then(
      () => true,
      () => false,
    );
  }
}
