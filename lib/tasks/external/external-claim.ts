import { pause } from '../../core/async/pause.js';
import type { Context } from '../../core/context/context.js';
import { isUnreadable } from '../../core/cell/known-record.js';
import { UnknownOutcomeError } from '../../core/store/index.js';
import { FIRST_BATCH } from '../../core/store/text-batches.js';
import type { TypeDenial } from '../rules/answers.js';
import type { Claim } from '../rules/claim.js';
import { PRIORITIES } from '../rules/task.js';
import type { TaskStore } from '../records/task-store.js';
import { type Hint, nameIn } from '../workers/hint-source.js';
import type { ExternalAdmission, ExternalAdmissions, ExternalWorker } from '../admission/external-admission.js';
import type { WaitingClaims } from './waiting-claims.js';

/** ms before a waiting claim asks again for a permit that it was denied. */
const DENIED = 1000;
/** So many looks go by before one begins with the lowest priority, so that no task waits for ever. */
const AGING = 8;

/** Characters of the tasks of one answer, as they stand in the store. The last one may go beyond. */
const LARGEST_ANSWER = 1024 * 1024;

/** A request of a worker for tasks. */
export interface ClaimRequest {
  readonly worker: ExternalWorker;
  /** Name of its token, for limits: programs without a name of their own share one. Default: the instance of the worker. */
  readonly program?: string;
  /** The types that it handles. */
  readonly types: readonly string[];
  /** The most tasks that it takes. */
  readonly most: number;
  /** ms */
  readonly lease: number;
  /** ms for which the request waits for a task. */
  readonly wait: number;
  /** Aborts when the worker has gone away: then its tasks go to others. */
  readonly signal: AbortSignal;
}

/** A task that was claimed for a worker. */
export interface ExternalClaim {
  readonly claim: Claim;
  readonly admission: ExternalAdmission;
  /** ms for which the worker may count on the task, from the moment at which it sent its request. */
  readonly remaining: number;
}

interface ClaimParts {
  readonly context: Context;
  readonly store: TaskStore;
  readonly admissions: ExternalAdmissions;
  readonly waiting: WaitingClaims;
  /** Number of this look at the queues. */
  readonly look: () => number;
}

/**
 * One request for tasks. A hint is taken first, then a permit if the type has a limit, then the task is claimed. A hint
 * that is not used goes back.
 */
export class ClaimCall {
  readonly claimed: ExternalClaim[] = [];
  readonly #denied = new Map<string, TypeDenial>();
  readonly #begun: number;
  #characters = 0;

  constructor(
    private readonly request: ClaimRequest,
    private readonly parts: ClaimParts,
  ) {
    this.#begun = this.#now;
  }

  /** Types of which the worker got no task because of their limit. */
  get denied(): TypeDenial[] {
    return [...this.#denied.values()];
  }

  /** @throws errors of the store, and others; tasks that were claimed before the error are in {@link claimed} */
  async run(): Promise<void> {
    const { wait, signal } = this.request;
    for (;;) {
      await this.#lookAtAll();
      const left = wait - (this.#now - this.#begun);
      if (this.claimed.length > 0 || left <= 0 || signal.aborted) return;
      if (!(await this.#waitForOne(left))) return;
    }
  }

  /** @returns false if this node shuts down */
  async #waitForOne(left: number): Promise<boolean> {
    const { signal } = this.request;
    const types = this.request.types.filter((type) => !this.#denied.has(type));
    // A hint of a type that is denied would come back at once, again and again.
    const patience = this.#denied.size > 0 ? Math.min(left, DENIED) : left;
    if (types.length === 0) await pause(this.parts.context.nodeClock, patience, { signal });
    const found = await this.parts.waiting.wait(types, types.length === 0 ? 0 : patience, signal);
    if (found) await this.#begin(found.type, found.hint);
    return !this.parts.context.isClosing();
  }

  /** Begins with another type each time, so that a busy one does not keep the others waiting. */
  async #lookAtAll(): Promise<void> {
    this.#denied.clear();
    const { types } = this.request;
    const look = this.parts.look();
    for (let index = 0; index < types.length && this.#isWanted; index++) {
      const type = types[(look + index) % types.length]!;
      const order = look % AGING === 0 ? PRIORITIES.toReversed() : PRIORITIES;
      for (const priority of order) await this.#lookAt(type, priority);
    }
  }

  async #lookAt(type: string, priority: Hint['priority']): Promise<void> {
    while (this.#isWanted && !this.#denied.has(type)) {
      const texts = await this.parts.store.hints.queue(type, priority).drain(Math.min(this.#room, FIRST_BATCH));
      if (texts.length === 0) return;
      await this.#beginAll(
        type,
        texts.map((text) => ({ priority, text })),
      );
    }
  }

  async #beginAll(type: string, hints: Hint[]): Promise<void> {
    try {
      for (let hint = hints.shift(); hint; hint = hints.shift()) await this.#begin(type, hint);
    } finally {
      for (const hint of hints) await this.#giveBack(type, hint);
    }
  }

  async #begin(type: string, hint: Hint): Promise<void> {
    if (!this.#isWanted || this.#denied.has(type)) return this.#giveBack(type, hint);
    let admission: ExternalAdmission | undefined;
    let claimed: ExternalClaim | undefined;
    try {
      const answer = await this.parts.admissions.admit(type, this.request.worker, this.#waited);
      if ('reason' in answer) {
        this.#denied.set(type, answer);
        return await this.#giveBack(type, hint);
      }
      admission = answer;
      claimed = await this.#claim(hint, admission);
      if (!claimed) return;
      this.claimed.push(claimed);
      this.#characters += hint.text.length;
    } catch (error) {
      // After an unknown outcome the task may be claimed. Then the sweep finds it when its lease is over.
      if (!(error instanceof UnknownOutcomeError)) await this.#giveBack(type, hint);
      throw error;
    } finally {
      if (!claimed) await admission?.giveBack();
    }
  }

  async #claim(hint: Hint, admission: ExternalAdmission): Promise<ExternalClaim | undefined> {
    const { lease } = this.request;
    const waited = this.#waited;
    const claim = await this.#claimReadable(hint, admission.owner);
    const remaining = Math.min(admission.remaining, waited + lease - this.parts.context.timing.clockTolerance);
    if (!claim || (await this.#isStopped(claim))) return undefined;
    return { claim, admission, remaining: Math.floor(remaining) };
  }

  /** A hint that can't be read is dropped: it would keep the others waiting. A node that can read its task offers it again. */
  async #claimReadable(hint: Hint, owner: string): Promise<Claim | undefined> {
    const { store, context } = this.parts;
    try {
      return await store.claim(hint.text, this.request.lease, owner);
    } catch (error) {
      if (!isUnreadable(error)) throw error;
      context.events.next({ type: 'problem', action: `claim ${nameIn(hint)}`, error });
      return undefined;
    }
  }

  /** Whether its group is stopped. Then it ends now. If the store can't say it, the attempt begins, and is stopped later. */
  async #isStopped(claim: Claim): Promise<boolean> {
    const { store, context } = this.parts;
    try {
      const stopped = await store.stops.stoppedFor(claim.task);
      if (!stopped) return false;
      await store.cancel(claim, stopped);
      await store.giveBack(claim);
      return true;
    } catch (error) {
      const action = `look whether the group of ${claim.task.id} is stopped`;
      context.events.next({ type: 'problem', action, error });
      // It may have ended although a later step failed.
      return claim.task.state !== 'claimed';
    }
  }

  /** Never rejects: the sweep finds a task whose hint was lost. */
  #giveBack(type: string, { priority, text }: Hint): Promise<void> {
    return this.parts.store.hints.offer({ type, priority }, text);
  }

  get #room(): number {
    return this.request.most - this.claimed.length;
  }

  get #isWanted(): boolean {
    return (
      this.#room > 0 &&
      this.#characters < LARGEST_ANSWER &&
      !this.request.signal.aborted &&
      !this.parts.context.isClosing()
    );
  }

  get #waited(): number {
    return this.#now - this.#begun;
  }

  get #now(): number {
    return this.parts.context.nodeClock.monotonic();
  }
}
