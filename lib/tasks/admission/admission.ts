import type { NodeClock } from '../../core/async/node-clock.js';
import type { TypeObstacle } from '../rules/views.js';
import type { Interruptible, TypeLimit, TypePermit } from './type-limit.js';

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

/**
 * May an attempt at a task of one type begin now? The same rules answer for each worker, in this order. For a program the answer to
 * its request asks the first two (`external/external-claim.ts`), because no node keeps anything between its requests:
 *
 * | rule        | says no while                                        | a node then                                 | a program then             |
 * | ----------- | ---------------------------------------------------- | ------------------------------------------- | -------------------------- |
 * | wanted      | shutdown, `pauseType()`; the program has gone away   | takes no hint, and gives back those that it has | gets no more tasks     |
 * | room        | so many attempts as the node, or one answer, may have | waits until one ends                       | gets no more tasks         |
 * | limit       | no permit of `task:<type>`, in the whole cluster     | gives its hint back, and waits for a permit before the next hint | hears why: `denied` |
 * | its turn    | so many handlers run as the node may run             | gives the task back after {@link PATIENCE} ms | has no handlers here     |
 *
 *     wanted ─▶ room ─▶ hint ─▶ limit ─▶ claim ─▶ its turn ─▶ handler      the limit is open, as this node knows
 *     wanted ─▶ room ─▶ limit ─▶ hint ─▶ claim ─▶ its turn ─▶ handler      it is shut: see {@link TypeLimit}
 *
 * An {@link Admission} is the answer for a node, and keeps its place, permit and turn; an `ExternalAdmission` is that for a
 * program, whose place is in one answer. Each is given back once.
 *
 * The turn of a fair key is no rule here. It never says no: it says which task is claimed for a ticket (`FairRotation`), for any
 * worker, and only after the permit. Asked before, a worker that is then denied would use up the turn of a key.
 */
export class Admissions {
  /** Those that were not given back. */
  #count = 0;
  /** Those whose handlers may run, or begin: not only their ends are to be noted. */
  #busy = 0;
  /** ms that a handler takes. */
  #usualTime = LONG;
  #isClosed = false;
  #isPaused = false;
  readonly #turns: HandlerConcurrency;

  /**
   * @param concurrency handlers of the type at the same time on this node
   * @param changed called when there may be more room
   */
  constructor(
    private readonly concurrency: number,
    private readonly limit: TypeLimit,
    private readonly clock: NodeClock,
    private readonly changed: () => void,
  ) {
    this.#turns = new HandlerConcurrency(concurrency, clock);
  }

  /** Admits none any more. Idempotent. */
  close(): void {
    this.#isClosed = true;
  }

  /** Admits none until {@link resume}. Idempotent. */
  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    this.#isPaused = false;
  }

  /** Whether it admits none any more, for good. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** The first rule: whether a hint that was taken may still be used. */
  get isWanted(): boolean {
    return !this.#isClosed && !this.#isPaused;
  }

  /** The first two rules: attempts that may begin, as far as this node alone decides. */
  get room(): number {
    if (!this.isWanted || this.#count >= (1 + ENDS) * this.concurrency) return 0;
    const places = this.#usualTime > SHORT || this.limit.isLimited ? this.concurrency : 2 * this.concurrency;
    return Math.max(0, places - this.#busy);
  }

  /** Hints to take for the time after the next attempts. */
  get ahead(): number {
    if (this.limit.isLimited) return 0;
    return Math.min(AHEAD.most, Math.floor((AHEAD.ms * this.concurrency) / this.#usualTime));
  }

  /** Why this node admits none, for people. Does not ask the store. */
  get obstacle(): TypeObstacle | undefined {
    return this.#isPaused ? 'paused-here' : this.limit.obstacle;
  }

  /** Takes a place of {@link room}. @param permit that was waited for; without one {@link Admission.askLimit} asks for it */
  admit(permit?: TypePermit): Admission {
    this.#count++;
    this.#busy++;
    return new Admission(this.limit, permit, {
      enter: () => this.#turns.enter(PATIENCE),
      giveWay: (hasTurn) => {
        this.#busy--;
        if (hasTurn) this.#turns.leave();
        this.changed();
      },
      end: () => {
        this.#count--;
        this.changed();
      },
    });
  }

  /** Runs a handler, and learns how long it takes: short ones overlap with the claim of the next task. */
  async measure<T>(handler: () => T | Promise<T>): Promise<T> {
    const begun = this.clock.monotonic();
    const result = await handler();
    this.#usualTime += LATEST * (this.clock.monotonic() - begun - this.#usualTime);
    return result;
  }

  /** No turn came for a task that was claimed ahead: a handler takes longer than usual. */
  noteLong(): void {
    this.#usualTime = LONG;
  }
}

/** The node's part of an admission. */
interface Place {
  readonly enter: () => Promise<boolean> | true;
  readonly giveWay: (hasTurn: boolean) => void;
  readonly end: () => void;
}

/** Leave for attempts one after another under one permit, or for a single one. */
export class Admission {
  #permit: TypePermit | undefined;
  #hasTurn = false;
  /** Whether only an end is to be noted: another attempt may begin. */
  #isEnding = false;

  constructor(
    private readonly limit: TypeLimit,
    permit: TypePermit | undefined,
    private readonly place: Place,
  ) {
    this.#permit = permit;
  }

  /** The third rule. Takes a permit, if there is none yet, and one is needed: see {@link isValid}. Never rejects. */
  async askLimit(): Promise<void> {
    this.#permit ??= await this.limit.admit();
  }

  /** The last rule. A turn serves all attempts of the admission. @returns false if none came in a while */
  async hasTurn(): Promise<boolean> {
    this.#hasTurn ||= await this.place.enter();
    return this.#hasTurn;
  }

  /** False without a permit that is needed, and after it was lost. */
  get isValid(): boolean {
    return this.#permit?.isValid === true;
  }

  /** Whether another attempt may begin under the same permit. */
  get mayContinue(): boolean {
    return this.#permit?.mayContinue === true;
  }

  /** As {@link TypePermit.guard}. */
  guard(held: Interruptible): () => void {
    return this.#permit!.guard(held);
  }

  /**
   * The handler has ended. Without a limit another attempt may begin while this end is noted.
   *
   * @returns whether it is so
   */
  handlerEnded(): boolean {
    if (this.#permit?.isFree) this.#giveWay();
    return this.#isEnding;
  }

  /** Gives permit, place and turn back. Call it once. Never rejects. */
  async giveBack(): Promise<void> {
    await this.#permit?.release();
    this.#giveWay();
    this.place.end();
  }

  #giveWay(): void {
    if (this.#isEnding) return;
    this.#isEnding = true;
    this.place.giveWay(this.#hasTurn);
  }
}

/** So many handlers run at once, and others wait for their turn, in order. */
class HandlerConcurrency {
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
