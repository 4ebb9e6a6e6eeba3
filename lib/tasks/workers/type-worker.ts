import { Deadline } from '../../core/async/deadline.js';
import { pause } from '../../core/async/pause.js';
import { instantOf } from '../../core/cell/plan.js';
import { StoreUnavailableError } from '../../core/store/index.js';
import type { TaskLimits } from '../rules/task.js';
import { LeaseExpiredError, TasksClosingError } from '../rules/tasks.errors.js';
import { Attempt, type AttemptParts } from './attempt.js';
import { HeldTask, type HeldOptions } from './held-task.js';
import { type Hint, HintSource, nameIn } from './hint-source.js';
import type { AddressedTasks } from './addressed-tasks.js';
import type { Admission, TypeLimit } from './type-limit.js';
import type { NodeClock } from '../../core/async/node-clock.js';
import type { DenialReason } from '../../core/decision/index.js';

export interface WorkerOptions extends HeldOptions {
  /** Tasks of the type at the same time on this node. */
  readonly concurrency: number;
  /** Limits that each claimed task gets; absent: it keeps those that it has. */
  readonly limits?: TaskLimits;
}

export interface WorkerParts extends AttemptParts {
  readonly limit: TypeLimit;
  readonly addressed: AddressedTasks;
}

/** ms before a hint is tried again whose claim failed because of the store. */
const RETRY = 500;
/** Attempts whose end is being noted, for each that may run at once. More wait: the store is slow. */
const ENDS = 4;
/** Hints are taken ahead for so many ms of work: for the short tasks that would wait for the store most of the time. */
const AHEAD = { ms: 10, most: 64 };
/** ms of a handler that is not known to be short. */
const LONG = 100;
/** Part of the latest handler in the mean of their times. */
const LATEST = 0.2;
/** ms of a handler up to which the next task is claimed while it runs: the claim would take longer. */
const SHORT = 2;
/** ms for which a task that was claimed ahead waits for the handler before it. Then it goes back. */
const PATIENCE = 50;

/** Why a node takes no task of a type: `paused-here` by `pauseType()`, or why it gets no permit of `task:<type>`. */
export type TypeObstacle = 'paused-here' | DenialReason;

/** State of a node's work on one type, as the node knows it now. */
export interface WorkerState {
  /** Attempts at the same time on this node. */
  readonly concurrency: number;
  /** Attempts that run on this node now. */
  readonly running: number;
  /** Why this node takes no task now; absent if it does. */
  readonly obstacle?: TypeObstacle;
}

/** A type that a node handles. */
export interface HandledType extends WorkerState {
  /** The type. */
  readonly type: string;
  /** `tasks`: the tasks of the type. `groups`: the end of its groups. */
  readonly handles: 'tasks' | 'groups';
}

/** Attempts one after another under one permit, or a single one. */
interface Series {
  /** The task whose handler runs. */
  held?: HeldTask | undefined;
  /** True while it counts among the handlers that run. */
  hasTurn?: boolean;
  /** Present when the handler has ended, and only its end is to be noted: another one may run. */
  isEnding?: true;
}

/** The workers of this node for one type of tasks: takes a hint, claims its task, and runs the handler. */
export class TypeWorker {
  readonly #source: HintSource;
  readonly #running = new Map<Promise<void>, Series>();
  readonly #turns: HandlerTurns;
  readonly #addressed = { room: () => this.#room, found: () => this.#source.notify() };
  /** Series that are more than the note of an end. */
  #busy = 0;
  /** ms that a handler takes. */
  #usualTime = LONG;
  #loop?: Promise<void>;
  #isClosing = false;
  #isPaused = false;
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
    this.#turns = new HandlerTurns(options.concurrency, parts.context.nodeClock);
    this.#source = new HintSource(type, parts.store.hints, parts.context, parts.addressed);
    parts.addressed.add(type, this.#addressed);
  }

  start(): void {
    this.#loop ??= this.#work();
  }

  /** Takes no more tasks. The running ones go on. Idempotent. */
  pause(): void {
    this.#isPaused = true;
    this.#source.stopWaiting();
    this.#wake();
  }

  /** Takes tasks again after {@link pause}. Idempotent. */
  resume(): void {
    this.#isPaused = false;
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
    const obstacle = this.#isPaused ? 'paused-here' : this.parts.limit.obstacle;
    const running = [...this.#running.values()].filter(({ held }) => held !== undefined).length;
    return { concurrency: this.options.concurrency, running, ...(obstacle && { obstacle }) };
  }

  /** Takes no more tasks for good, and waits for the running ones, however long they take. Idempotent. */
  async retire(): Promise<void> {
    this.parts.addressed.remove(this.type, this.#addressed);
    this.#isClosing = true;
    this.#wake();
    await Promise.all([this.#source.close(), this.#loop]);
    await Promise.all(this.#running.keys());
  }

  /**
   * Takes no more tasks, and waits for the running ones. After `grace` ms their signals abort. Work that goes on after that
   * keeps its lease: the task goes to another node when it is over.
   */
  async close(grace: number): Promise<void> {
    this.#isClosing = true;
    this.#wake();
    await Promise.all([this.#source.close(), this.#loop]);
    if (await this.#drained(grace)) return;
    for (const { held } of this.#running.values()) held?.abort(new TasksClosingError());
    // A handler that reacts to its signal gives the task back: that takes one call of the store.
    await this.#drained(this.parts.context.timing.callTimeout);
    // If the store is away, the sweep of another node finds the others. Their leases must not keep the process alive.
    this.#closed.abort();
  }

  /** Attempts that may begin. */
  get #room(): number {
    return this.#mayBegin ? Math.max(0, this.#free) : 0;
  }

  get #free(): number {
    const { concurrency } = this.options;
    const places = this.#usualTime > SHORT || this.parts.limit.isLimited ? concurrency : 2 * concurrency;
    return this.#running.size < (1 + ENDS) * concurrency ? places - this.#busy : 0;
  }

  /** Hints to take for the time after the next attempts. */
  get #ahead(): number {
    if (this.parts.limit.isLimited) return 0;
    return Math.min(AHEAD.most, Math.floor((AHEAD.ms * this.options.concurrency) / this.#usualTime));
  }

  /** Whether a hint that was taken may still be used. */
  get #mayBegin(): boolean {
    return !this.#isClosing && !this.#isPaused;
  }

  async #work(): Promise<void> {
    while (!this.#isClosing) {
      const free = this.#free;
      if (free <= 0 || this.#isPaused) await new Promise<void>((resolve) => (this.#changed = resolve));
      else if (this.parts.limit.isShut) await this.#takeTurn();
      else for (const hint of await this.#source.take(free, this.#ahead)) this.#begin(hint);
    }
  }

  #wake(): void {
    this.#waiting?.abort();
    // A second abort() would make another error in vain.
    this.#waiting = undefined;
    this.#changed();
  }

  /** Waits for a permit, and takes a hint under it. Without a hint the permit goes to other nodes. */
  async #takeTurn(): Promise<void> {
    const waiting = (this.#waiting = new AbortController());
    const admission = await this.parts.limit.wait(waiting.signal);
    if (!admission) return;
    const [hint] = this.#mayBegin ? await this.#source.takeNow(1) : [];
    if (hint) return this.#begin(hint, admission);
    this.parts.limit.open();
    await admission.release();
  }

  #begin(hint: Hint, admission?: Admission): void {
    const series: Series = {};
    const running: Promise<void> = this.#serve(hint, admission, series).finally(() => {
      if (!series.isEnding) this.#giveWay(series);
      this.#running.delete(running);
      this.#changed();
    });
    this.#busy++;
    this.#running.set(running, series);
  }

  /** Runs one attempt, and others after it while their permit may be used again. Never rejects. */
  async #serve(first: Hint, given: Admission | undefined, series: Series): Promise<void> {
    const admission = given ?? (await this.parts.limit.admit());
    if (!admission) return this.#source.giveBack(first);
    for (let hint: Hint | undefined = first; hint; hint = await this.#next(admission)) {
      if (this.#mayBegin && admission.isValid) await this.#run(hint, admission, series);
      else await this.#source.giveBack(hint);
      series.held = undefined;
    }
    await admission.release();
  }

  async #next(admission: Admission): Promise<Hint | undefined> {
    if (!this.#mayBegin || !admission.mayContinue) return undefined;
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
      series.hasTurn ||= await this.#turns.enter(PATIENCE);
      if (!series.hasTurn || !this.#mayBegin) return await this.#undo(held);
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
    const { nodeClock } = this.parts.context;
    const begun = nodeClock.monotonic();
    const result = await this.handler(held);
    this.#usualTime += LATEST * (nodeClock.monotonic() - begun - this.#usualTime);
    // A failure is noted first: it may stop the group of the next task.
    if (admission.isFree) this.#giveWay(series);
    return result;
  }

  /** The task was claimed, and its handler does not begin: it goes to another node. Never rejects. */
  async #undo(held: HeldTask): Promise<void> {
    // A handler takes longer than usual.
    if (this.#mayBegin) this.#usualTime = LONG;
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

  /** Lets another attempt begin while the end of this one is noted. */
  #giveWay(series: Series): void {
    series.isEnding = true;
    series.held = undefined;
    this.#busy--;
    if (series.hasTurn) this.#turns.leave();
    this.#changed();
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

/** So many handlers run at once, and others wait for their turn, in order. */
class HandlerTurns {
  readonly #waiting = new Set<() => void>();
  #running = 0;

  constructor(
    private readonly most: number,
    private readonly clock: NodeClock,
  ) {}

  /**
   * Waits for a turn. Call {@link leave} once after it.
   *
   * @param patience ms
   * @returns false if no turn came in this time
   */
  enter(patience: number): Promise<boolean> | true {
    if (this.#running < this.most) {
      this.#running++;
      return true;
    }
    return new Promise((resolve) => {
      const cancelTimer = this.clock.schedule(() => {
        this.#waiting.delete(begin);
        resolve(false);
      }, patience);
      const begin = () => {
        cancelTimer();
        resolve(true);
      };
      this.#waiting.add(begin);
    });
  }

  /** The turn goes to the one that has waited longest. */
  leave(): void {
    const [next] = this.#waiting;
    if (!next) return void this.#running--;
    this.#waiting.delete(next);
    next();
  }
}
