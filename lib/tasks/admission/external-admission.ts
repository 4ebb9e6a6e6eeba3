import type { Context } from '../../core/context/context.js';
import type { DenialReason } from '../../core/decision/index.js';
import { ExternalRecord } from '../../core/permits/external/external-record.js';
import type { NodeSemaphore } from '../../core/permits/node-semaphore.js';
import type { SemaphoreDirectory } from '../../core/permits/semaphore-directory.js';
import type { TypeDenial } from '../rules/answers.js';
import { holderIn, ownerOf } from '../rules/claim.js';
import type { Task } from '../rules/task.js';
import { TypeSemaphore } from './type-limit.js';

/** A worker that is no node: a program that asks any node over HTTP. */
export interface ExternalWorker {
  /** Name of the program, the same on all nodes, with a colon. Only this name can end its attempts. */
  readonly instance: string;
  /** Name that the acquirer pattern of a limit must match. */
  readonly acquirer: string;
  /** Group that the group pattern of a limit must match. Default: that of the answering node. */
  readonly group?: string | undefined;
}

/**
 * Admits programs to tasks: by a permit of `task:<type>` that no node keeps alive. The program refreshes it with each renewal of
 * its task. The permit's holder stands in the task's record, so any node finds it: see {@link ofTask}.
 */
export class ExternalAdmissions {
  constructor(
    private readonly directory: Pick<SemaphoreDirectory, 'of'>,
    private readonly context: Context,
  ) {}

  /**
   * Takes a permit for one attempt, if the type has a limit.
   *
   * @param waited ms since the request arrived
   * @throws errors of a store that can't be asked
   */
  admit(type: string, worker: ExternalWorker, waited: number): Promise<ExternalAdmission | TypeDenial> {
    const { context } = this;
    const { instance } = worker;
    const limit = this.#semaphoreOf(type);
    const take = async (semaphore: NodeSemaphore): Promise<ExternalAdmission | TypeDenial> => {
      const [holder, permitId] = [context.random.id(), context.random.id()];
      const record = new ExternalRecord(semaphore, context);
      const answer = await record.take(
        { semaphore: limit.name, holder, ...worker },
        { mayTake: true, permitId, waited },
      );
      if (answer.outcome === 'granted')
        return new ExternalAdmission(instance, answer.remaining, limit, context, holder);
      const { reason, freeIn } = record.withEnd(answer);
      return { type, reason, ...(freeIn !== undefined && { freeIn }) };
    };
    return limit.use(take, () => new ExternalAdmission(instance, Infinity, limit, context));
  }

  /** The admission under which a program has claimed a task. */
  ofTask({ type, owner }: Task, instance: string): ExternalAdmission {
    const holder = owner === undefined ? undefined : holderIn(owner);
    return new ExternalAdmission(instance, Infinity, this.#semaphoreOf(type), this.context, holder);
  }

  #semaphoreOf(type: string): TypeSemaphore {
    return new TypeSemaphore(type, this.directory, this.context);
  }
}

/** Permission for a program to work on one task, under a permit or without one. */
export class ExternalAdmission {
  constructor(
    private readonly instance: string,
    /**
     * ms for which the program may count on the permit, from the moment at which it sent its request. Infinity without a permit, and
     * for the admission of a task that is under way: {@link refresh} says it.
     */
    readonly remaining: number,
    private readonly limit: TypeSemaphore,
    private readonly context: Context,
    /** Holder of the permit; absent if the type has no limit. */
    private readonly holder?: string,
  ) {}

  /** Owner of the task's claim. */
  get owner(): string {
    return ownerOf(this.instance, this.holder);
  }

  /**
   * Makes the permit last for another duration of the limit. It needs none after the limit was removed.
   *
   * @returns ms for which the program may count on it, or why it may not
   * @throws errors of a store that can't be asked
   */
  async refresh(): Promise<{ readonly remaining: number } | { readonly reason: DenialReason }> {
    if (this.holder === undefined) return { remaining: Infinity };
    const unlimited = { remaining: Infinity };
    return this.limit.use<{ remaining: number } | { reason: DenialReason }>(
      async (semaphore) => {
        const record = new ExternalRecord(semaphore, this.context);
        const answer = await record.refresh(this.#isOwn, { semaphore: this.limit.name });
        if (answer.outcome === 'granted') return { remaining: answer.remaining };
        return semaphore.cell.known?.definition ? { reason: answer.reason } : unlimited;
      },
      () => unlimited,
    );
  }

  /** Never rejects: a permit that could not be released expires. */
  async giveBack(): Promise<void> {
    if (this.holder === undefined) return;
    const free = (semaphore: NodeSemaphore) => new ExternalRecord(semaphore, this.context).free(this.#isOwn);
    await this.limit.release(() => this.limit.use(free, () => false));
  }

  readonly #isOwn = ({ instance, holder }: { readonly instance: string; readonly holder: string }): boolean =>
    instance === this.instance && holder === this.holder;
}
