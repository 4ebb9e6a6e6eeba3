import type { CancelTimer } from '../../core/async/node-clock.js';
import type { Context } from '../../core/context/context.js';
import { dueTimeOf } from '../rules/task-place.js';
import type { DueLook } from './task-sweep.js';
import { type PlannedLook, nextLook } from '../rules/due-rule.js';

/** ms between two looks of a node that handles tasks, whatever it knows. */
const REGULAR = 1000;

/** Due times that are kept. With more, the last ones are left to the nodes that read them. */
const MOST = 1000;
/** ms: later due times are read by the nodes that sweep before they come, because these look about once a second. */
const HORIZON = 1500;

interface DueTimerParts {
  readonly context: Context;
  /** Does what is due. Calls come one after another. */
  readonly look: (patience: number) => Promise<DueLook>;
  /** Rank of this node now; see {@link nextLook}. */
  readonly rank: () => number | undefined;
}

/** Looks for due work when {@link nextLook} says. Owns the only timer for it. */
export class DueTimer {
  readonly #own = new OwnTimes();
  /** Cluster time of the next due work, as the last look read it. */
  #next: number | undefined;
  /** Patience of the last look, if it left more to do at once. */
  #more: number | undefined;
  /** Monotonic ms at which the last look began. */
  #lookedAt = -Infinity;
  /** Monotonic ms of the regular look; undefined before {@link start}. */
  #regularAt: number | undefined;
  #cancelTimer?: CancelTimer | undefined;
  #looking: Promise<void> | undefined;
  #isClosed = false;

  constructor(private readonly parts: DueTimerParts) {}

  /** Begins with the regular looks. Idempotent. */
  start(): void {
    if (this.#regularAt !== undefined || this.#isClosed) return;
    this.#regularAt = this.#now;
    this.#plan();
  }

  /** A task was written. If it is delayed, this node looks at its time. */
  readonly written = (text: string): void => {
    if (this.#own.note(text, this.parts.context.clusterClock.earliest())) this.#plan();
  };

  /** Plans no other look, and waits for the one that is under way. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cancelTimer?.();
    await this.#looking;
  }

  get #now(): number {
    return this.parts.context.nodeClock.monotonic();
  }

  #plan(): void {
    if (this.#isClosed || this.#looking) return;
    this.#cancelTimer?.();
    const look = this.#nextLook();
    this.#cancelTimer = look && this.parts.context.nodeClock.schedule(() => this.#begin(look), look.wait);
  }

  #nextLook(): PlannedLook | undefined {
    const { rank, context } = this.parts;
    const now = this.#now;
    const time = context.clusterClock.earliest();
    const until = (at: number | undefined) => (at === undefined ? undefined : at - time);
    return nextLook({
      rank: rank(),
      readIn: until(this.#next),
      ownIn: until(this.#own.first),
      regularIn: this.#regularAt === undefined ? undefined : this.#regularAt - now,
      more: this.#more,
      since: now - this.#lookedAt,
    });
  }

  #begin({ patience }: PlannedLook): void {
    this.#cancelTimer = undefined;
    this.#looking = this.#look(patience).finally(() => {
      this.#looking = undefined;
      this.#plan();
    });
  }

  /** Never rejects. */
  async #look(patience: number): Promise<void> {
    const { context, look } = this.parts;
    const { clusterClock, events, random } = context;
    this.#lookedAt = this.#now;
    this.#own.passed(clusterClock.earliest());
    try {
      const { isMore, next } = await look(patience);
      this.#next = next;
      this.#more = isMore ? patience : undefined;
    } catch (error) {
      this.#next = this.#more = undefined;
      if (!this.#isClosed) events.next({ type: 'problem', action: 'look for due tasks', error });
    }
    if (this.#regularAt !== undefined) this.#regularAt = this.#lookedAt + REGULAR * (0.9 + 0.2 * random.number());
  }
}

/** The due times that this process wrote and that come soon, each once, in their order. Cluster time in ms. */
export class OwnTimes {
  readonly #times: number[] = [];

  /** @param text of a task that was written @param now cluster time @returns whether its time is the first one now */
  note(text: string, now: number): boolean {
    const due = dueTimeOf(text);
    if (due === undefined || due - now > HORIZON) return false;
    // It is due when its time has surely passed.
    const at = due + 1;
    let place = this.#times.length;
    while (place > 0 && this.#times[place - 1]! > at) place--;
    if (this.#times[place - 1] === at) return false;
    this.#times.splice(place, 0, at);
    if (this.#times.length > MOST) this.#times.pop();
    return place === 0;
  }

  get first(): number | undefined {
    return this.#times[0];
  }

  /** Forgets those that have come. */
  passed(now: number): void {
    const left = this.#times.findIndex((at) => at > now);
    this.#times.splice(0, left < 0 ? this.#times.length : left);
  }
}
