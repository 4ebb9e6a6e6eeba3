import { type Context, timeOf } from '../../core/context/context.js';
import { InvalidOptionsError, show, shortestDuration } from '../../core/decision/index.js';
import { Claim, whyLost, isHeldBy } from '../rules/claim.js';
import { faultOf, type Outcome, type Task } from '../rules/task.js';
import { MOST_BYTES, readJson } from '../rules/json.js';
import type { AttemptOutcome } from '../overview/node-work.js';
import type { TaskStore } from '../records/task-store.js';
import { decodeTask } from '../rules/task.codec.js';
import { LeaseExpiredError, TaskCancelledError, TasksClosingError } from '../rules/tasks.errors.js';
import { ClaimCall, type ClaimRequest, type ExternalClaim } from './external-claim.js';
import { ExternalAdmissions } from '../admission/external-admission.js';
import type { TypeDenial } from '../rules/answers.js';
import { TypeBudgets } from './type-budgets.js';
import { WaitingClaims } from './waiting-claims.js';
import type { TaskProgress } from '../rules/task-parts.js';

/** An attempt of an external worker, by data of the answer that gave it the task. */
export interface ExternalAttempt {
  /** Id of the task. */
  readonly id: string;
  readonly token: number;
  /** As of the {@link ExternalWorker} that claimed it. */
  readonly instance: string;
}

/** An error of an external worker. */
interface ExternalError {
  readonly name?: string;
  readonly message: string;
  readonly stack?: string;
}

/** Answer to a renewal: ms for which the worker may count on its task, or why it gets no permit. */
type Renewed = { readonly remaining: number } | TypeDenial;

interface ExternalTasksParts {
  readonly context: Context;
  readonly directory: ConstructorParameters<typeof ExternalAdmissions>[0];
  /** Bytes of a result as JSON. */
  readonly mostBytes?: number;
  /** Opens the store. */
  readonly store: () => TaskStore;
  /** An attempt has ended by a call of its program. */
  readonly onEnd: (type: string, end: AttemptOutcome) => void;
  /** Sweeps from now on: otherwise nothing would take over the task of a worker that crashed. */
  readonly sweep: () => void;
}

/** A change of a claim, and how to see in the task that an earlier call of the same change was applied. */
interface Ending {
  readonly change: (store: TaskStore, claim: Claim) => Promise<void>;
  readonly isDone: (task: Task, outcome: Outcome | undefined) => boolean;
  /** What the end is counted as, by the call that ended the attempt. Absent: it is not counted. */
  readonly counts?: AttemptOutcome;
}

/**
 * Tasks for external workers, which are no nodes. A worker asks any node each time. So this node keeps nothing between
 * two requests: the record says who has the task, by owner and token. The worker renews its lease itself, and measures it
 * with its own clock, from before each request. A task that is not renewed goes to another worker after the lease, as after
 * a crash.
 *
 * | call       | the task is claimed by this worker and token | an earlier call did the same    | else                |
 * | ---------- | -------------------------------------------- | ------------------------------- | ------------------- |
 * | renew      | renewed; refused once it was cancelled       |                                 | `LeaseExpiredError` |
 * | complete   | ends; refused if it was cancelled            | the same answer                 | `LeaseExpiredError` |
 * | fail       | delayed, or ends                             | the same, until its next attempt | `LeaseExpiredError` |
 * | retryLater | delayed                                      | the same, until its next attempt | `LeaseExpiredError` |
 * | giveBack   | waits                                        | the same, until its next attempt | `LeaseExpiredError` |
 */
export class ExternalTasks {
  readonly #waiting: WaitingClaims;
  readonly #admissions: ExternalAdmissions;
  readonly #types: TypeBudgets;
  #looks = 0;
  #isClosed = false;

  constructor(private readonly parts: ExternalTasksParts) {
    this.#waiting = new WaitingClaims(() => parts.store().hints, parts.context);
    this.#admissions = new ExternalAdmissions(parts.directory, parts.context);
    this.#types = new TypeBudgets(parts.context.nodeClock);
  }

  /**
   * Claims tasks for a worker. Waits for the first one, if asked to.
   *
   * @returns no tasks if there were none in this time; `denied` names the types whose limit allowed none
   * @throws InvalidOptionsError, TooManyTypesError, TasksClosingError, or the signal's reason
   * @throws StoreUnavailableError, UnknownOutcomeError and others, if nothing was claimed because of it
   */
  async claim(request: ClaimRequest): Promise<{ tasks: ExternalClaim[]; denied: TypeDenial[] }> {
    this.#expectLease(request.lease);
    this.expectTypes(request.program ?? request.worker.instance, request.types);
    const store = this.#begin();
    const look = () => this.#looks++;
    const call = new ClaimCall(request, {
      context: this.parts.context,
      store,
      admissions: this.#admissions,
      waiting: this.#waiting,
      look,
    });
    try {
      await call.run();
    } catch (error) {
      if (call.claimed.length === 0) throw error;
      // The worker must hear of the tasks that it has: else each one would count as crashed.
      const action = `claim tasks for ${request.worker.instance}`;
      this.parts.context.events.next({ type: 'problem', action, error });
    }
    if (request.signal.aborted) {
      await Promise.all(call.claimed.map((claimed) => this.#takeBack(claimed)));
      request.signal.throwIfAborted();
    }
    return { tasks: call.claimed, denied: call.denied };
  }

  /**
   * Makes the lease last at least so long from now, and the permit of its limit for another duration.
   *
   * @param lease ms
   * @param progress how far the attempt has come, if the worker says it
   * @throws LeaseExpiredError, TaskCancelledError, InvalidOptionsError
   * @throws StoreUnavailableError, UnknownOutcomeError if the lease may end as before
   */
  async renew(attempt: ExternalAttempt, lease: number, progress?: Omit<TaskProgress, 'at'>): Promise<Renewed> {
    this.#expectLease(lease);
    const { context } = this.parts;
    const store = this.#begin();
    const begun = context.nodeClock.monotonic();
    const claim = await this.#held(store, attempt, expectNotCancelled);
    expectWanted(claim.task);
    const permit = await this.#admissions.ofTask(claim.task, attempt.instance).refresh();
    if ('reason' in permit) return { type: claim.task.type, ...permit };
    const waited = context.nodeClock.monotonic() - begun;
    if (progress) claim.progress = { ...progress, at: this.#now };
    await store.renew(claim, lease);
    expectWanted(claim.task);
    return { remaining: Math.floor(Math.min(permit.remaining, waited + lease - context.timing.clockTolerance)) };
  }

  /**
   * Ends a task with a result.
   *
   * @throws InvalidOptionsError if the result can't be kept; the worker still has the task
   * @throws LeaseExpiredError, TaskCancelledError if the result is refused
   * @throws StoreUnavailableError, UnknownOutcomeError; then call it again
   */
  async complete(attempt: ExternalAttempt, result: unknown): Promise<Task> {
    const read = readJson(result, this.parts.mostBytes ?? MOST_BYTES);
    if ('fault' in read) throw new InvalidOptionsError(`task ${show(attempt.id)}`, [`result: ${read.fault}`]);
    const task = await this.#end(attempt, {
      counts: 'completed',
      change: (store, claim) => store.end(claim, 'completed', read.value),
      isDone: (_task, outcome) => outcome === 'completed',
    });
    expectWanted(task);
    return task;
  }

  /**
   * Notes that an attempt failed.
   *
   * @param error a name, a message and perhaps a stack
   * @param isFinal whether no other attempt can succeed
   * @throws LeaseExpiredError, StoreUnavailableError, UnknownOutcomeError
   */
  fail(attempt: ExternalAttempt, { name = 'Error', message, stack }: ExternalError, isFinal: boolean): Promise<Task> {
    const error = Object.assign(new Error(message), { name, stack });
    const fault = faultOf(error, this.#now);
    return this.#end(attempt, {
      counts: 'failed',
      change: (store, claim) => store.fail(claim, fault, isFinal),
      isDone: (task, outcome) => hasFailed(task, attempt) || outcome === 'failed' || outcome === 'invalid',
    });
  }

  /** Lets the task wait, which is no failure. @param after ms @throws as {@link fail} */
  retryLater(attempt: ExternalAttempt, after: number): Promise<Task> {
    return this.#end(attempt, {
      change: (store, claim) => store.retryLater(claim, after),
      isDone: ({ isPutOff }) => isPutOff === true,
    });
  }

  /** Gives the task back: another worker may have it at once. @throws as {@link fail} */
  giveBack(attempt: ExternalAttempt): Promise<Task> {
    return this.#end(attempt, {
      change: (store, claim) => store.giveBack(claim),
      isDone: ({ state }) => state === 'waiting',
    });
  }

  /** Notes the types that a program names. @param program name of its token @throws TooManyTypesError */
  expectTypes(program: string, types: readonly string[]): void {
    this.#types.expect(program, types);
  }

  /** Number of claims that wait for a task. */
  get waiting(): number {
    return this.#waiting.count;
  }

  /** Ends all waiting claims: they get no task. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#waiting.close();
  }

  async #end(attempt: ExternalAttempt, { change, isDone, counts }: Ending): Promise<Task> {
    const store = this.#begin();
    try {
      const claim = await this.#held(store, attempt);
      const admission = this.#admissions.ofTask(claim.task, attempt.instance);
      try {
        await change(store, claim);
      } finally {
        // It may have ended although a later step failed. Then the same call again no longer finds the holder.
        if (claim.task.state !== 'claimed') await admission.giveBack();
      }
      if (counts && !claim.task.cancel) this.parts.onEnd(claim.task.type, counts);
      return claim.task;
    } catch (error) {
      // Its answer may have been lost, or the same call came twice.
      if (!(error instanceof LeaseExpiredError)) throw error;
      const task = await store.find(attempt.id);
      const end = task?.formerEnd?.token === attempt.token ? task.formerEnd : task?.ending;
      const isOver = task !== undefined && isLastOf(task, attempt);
      if (isOver && (isDone(task, end?.outcome) || task.ending?.outcome === 'cancelled')) return task;
      throw error;
    }
  }

  /** @param check of the task as it stands if the worker does not have it, which may know a better reason */
  async #held(store: TaskStore, attempt: ExternalAttempt, check = anyReason): Promise<Claim> {
    const text = await store.texts.read(attempt.id);
    const task = text === undefined ? undefined : decodeTask(text);
    if (task && isHeldBy(task, attempt)) return new Claim(task, text!);
    check(task, attempt);
    const isOther = task?.state === 'claimed' && task.token === attempt.token;
    throw new LeaseExpiredError(attempt.id, isOther ? 'another worker has it' : whyLost(task, attempt));
  }

  /** Its worker has gone away. After an error the task goes to another worker when its lease is over. */
  async #takeBack({ claim, admission }: ExternalClaim): Promise<void> {
    const { id } = claim.task;
    await this.parts
      .store()
      .giveBack(claim)
      .catch((error: unknown) => {
        this.parts.context.events.next({ type: 'problem', action: `give task ${id} back`, error });
      });
    await admission.giveBack();
  }

  /** @throws TasksClosingError if this node shuts down */
  #begin(): TaskStore {
    if (this.#isClosed) throw new TasksClosingError();
    const store = this.parts.store();
    this.parts.sweep();
    return store;
  }

  /** Cluster time in ms. */
  get #now(): number {
    return timeOf(this.parts.context);
  }

  #expectLease(lease: number): void {
    const shortest = shortestDuration(this.parts.context.timing.clockTolerance);
    if (lease >= shortest) return;
    throw new InvalidOptionsError('the lease of a task', [`lease: ${lease} ms is shorter than ${shortest} ms`]);
  }
}

const anyReason = (_task: Task | undefined, _attempt: ExternalAttempt): void => undefined;

/** @throws TaskCancelledError if the attempt was ended by a cancel */
function expectNotCancelled(task: Task | undefined, attempt: ExternalAttempt): void {
  if (task?.ending?.outcome === 'cancelled' && isLastOf(task, attempt)) expectWanted(task);
}

/** Whether this attempt was the last one of the task, and is over. Its own worker may repeat the call that ended it. */
function isLastOf({ token, state, lastProgram }: Task, attempt: ExternalAttempt): boolean {
  return token === attempt.token && state !== 'claimed' && lastProgram === attempt.instance;
}

/** Whether this attempt stands among those that failed. A lease that ended has no error there. */
function hasFailed({ past = [] }: Task, { token }: ExternalAttempt): boolean {
  return past.some((each) => each.token === token && each.error !== undefined);
}

/** @throws TaskCancelledError */
function expectWanted({ id, cancel }: Task): void {
  if (cancel) throw new TaskCancelledError(id, cancel);
}
