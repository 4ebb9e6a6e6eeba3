import { type Context, timeOf } from '../../core/context/context.js';
import { InvalidOptionsError } from '../../core/decision/index.js';
import { PermitLostError } from '../../core/permits/permits.errors.js';
import type { Claim } from '../rules/claim.js';
import { faultOf, type Task } from '../rules/task.js';
import { readJson } from '../rules/json.js';
import { dataOf } from '../rules/task.codec.js';
import type { TaskStore } from '../records/task-store.js';
import {
  InvalidTaskError,
  LeaseExpiredError,
  RetryLaterError,
  TaskCancelledError,
  TasksClosingError,
} from '../rules/tasks.errors.js';
import type { HeldTask } from './held-task.js';
import type { InvalidTaskFunction } from './task-handler.js';

export interface AttemptParts {
  readonly store: TaskStore;
  readonly context: Context;
  /** Bytes of a result as JSON. */
  readonly mostBytes: number;
  readonly onInvalid: () => InvalidTaskFunction | undefined;
}

interface End {
  /** Thrown by the handler. */
  readonly error?: unknown;
  /** True if it counts as a failed attempt. */
  readonly isFailure: boolean;
  /** The task after it. */
  readonly task: Task;
}

/**
 * One attempt: runs the handler, and notes how it ended.
 *
 * | the handler               | the task                                                     |
 * | ------------------------- | ------------------------------------------------------------ |
 * | returns                   | completed, with the result                                   |
 * | throws `RetryLaterError`  | waits for so long                                            |
 * | throws `InvalidTaskError` | a dead letter, after a call of the handler of invalid tasks  |
 * | throws another error      | waits for its next attempt, or is a dead letter at the last  |
 * | ends after its lease      | as above, as long as the store has its claim                 |
 * | ends when that is gone    | nothing is noted: the lease that ended counts as a crash     |
 * | was not called in time    | given back                                                   |
 * | ends after a shutdown     | given back, if it threw                                      |
 * | ends after a lost permit  | the same                                                     |
 * | ends after a cancel       | cancelled; a result is dropped                               |
 *
 * The end of the lease alone decides nothing. The write of the end is by comparison with the claim, so of that and the sweep,
 * which takes the claim away, one is refused: each attempt counts once. A handler that stops because its lease ended has
 * failed. To give its task back uncounted would repeat for ever a handler that is always too slow.
 */
export class Attempt {
  constructor(
    private readonly held: HeldTask,
    private readonly parts: AttemptParts,
  ) {}

  /** Never rejects. */
  async run(handler: () => unknown): Promise<void> {
    const { events, nodeClock } = this.parts.context;
    const started = nodeClock.monotonic();
    events.next({ type: 'task-started', ...this.#about });
    try {
      const { error, isFailure, task } = await this.#observed(handler);
      const took = nodeClock.monotonic() - started;
      const outcome = task.ending?.outcome;
      events.next({
        type: 'task-ended',
        ...this.#about,
        took,
        ...(outcome && { outcome }),
        ...(error !== undefined && { error }),
        isFailure,
      });
    } catch (error) {
      if (error instanceof LeaseExpiredError) events.next({ type: 'task-lost', ...this.#about, error });
      else events.next({ type: 'problem', action: `note the end of task ${this.#task.id}`, error });
    } finally {
      this.held.abort(() => new LeaseExpiredError(this.#task.id, 'its handler has ended'));
    }
  }

  #observed(handler: () => unknown): Promise<End> {
    const { instrumentation } = this.parts.context;
    return instrumentation ? instrumentation.attempt(this.#task, () => this.#run(handler)) : this.#run(handler);
  }

  async #run(handler: () => unknown): Promise<End> {
    let result: unknown;
    try {
      // Its permit was lost before it began.
      if (this.#hasLostPermit) throw this.held.reason;
      result = await handler();
    } catch (error) {
      return { error, isFailure: await this.#failed(error), task: this.#task };
    }
    const { slices } = this.parts.store;
    if (slices.isOver) await slices.turn();
    const read = readJson(result, this.parts.mostBytes);
    if ('fault' in read) {
      const error = new InvalidOptionsError(`the result of task ${this.#task.id}`, [read.fault]);
      return { error, isFailure: await this.#failed(error, true), task: this.#task };
    }
    await this.held.finish((claim) => this.parts.store.end(claim, 'completed', read.value));
    return { isFailure: false, task: this.#task };
  }

  get #hasLostPermit(): boolean {
    return this.held.reason instanceof PermitLostError;
  }

  /** Notes what the handler threw. @returns whether that counts as a failed attempt */
  async #failed(error: unknown, isFinal = error instanceof InvalidTaskError): Promise<boolean> {
    const { reason, hasBegun } = this.held;
    if (!hasBegun && reason instanceof LeaseExpiredError) {
      // The process stood still, and its handler was not called. So it has not failed, and another node may begin.
      await this.held.finish((claim) => this.parts.store.giveBack(claim));
      throw reason;
    }
    const note = this.#noteOf(error);
    if (note) {
      await this.held.finish(note);
      return false;
    }
    if (isFinal) await this.#tellInvalid(error as Error);
    const fault = faultOf(error, timeOf(this.parts.context));
    await this.held.finish((claim) => this.parts.store.fail(claim, fault, isFinal));
    // A cancel may have been noted of which the handler's signal does not know yet.
    return this.#task.ending?.outcome !== 'cancelled';
  }

  /** Notes something else than a failure; undefined if the handler has failed. */
  #noteOf(error: unknown): ((claim: Claim) => Promise<void>) | undefined {
    const { store } = this.parts;
    const { reason } = this.held;
    if (reason instanceof TaskCancelledError) return (claim) => store.end(claim, 'cancelled');
    if (this.#hasLostPermit || reason instanceof TasksClosingError) return (claim) => store.giveBack(claim);
    if (error instanceof RetryLaterError) return (claim) => store.retryLater(claim, error.delay);
    return undefined;
  }

  async #tellInvalid(error: Error): Promise<void> {
    const { id, type, token } = this.#task;
    try {
      await this.parts.onInvalid()?.({ id, type, data: dataOf(this.#task), token }, error);
    } catch (failure) {
      this.parts.context.events.next({ type: 'problem', action: `handle the invalid task ${id}`, error: failure });
    }
  }

  get #about() {
    return { task: this.#task.id, token: this.#task.token };
  }

  get #task(): Task {
    return this.held.claim.task;
  }
}
