import type { Context } from '../../core/context/context.js';
import { type DenialReason, TASK_PREFIX } from '../../core/decision/index.js';
import { UnknownSemaphoreError } from '../../core/permits/permits.errors.js';
import { ExternalRecord } from '../../core/permits/external/external-record.js';
import type { SemaphoreDirectory } from '../../core/permits/semaphore-directory.js';
import { TooManyTypesError } from '../rules/tasks.errors.js';

/** A worker that is no node: a program that asks any node over HTTP. */
export interface ExternalWorker {
  /** Name of the program, the same on all nodes, with a colon. Only this name can end its attempts. */
  readonly instance: string;
  /** Name that the acquirer pattern of a limit must match. */
  readonly acquirer: string;
  /** Group that the group pattern of a limit must match. Default: that of the answering node. */
  readonly group?: string | undefined;
}

/** Why a worker gets no task of a type. */
export interface TypeDenial {
  readonly type: string;
  readonly reason: DenialReason;
  /** ms until a permit is free, if none is refreshed or released before. Absent if waiting alone frees none. */
  readonly freeIn?: number;
}

/** Leave to claim one task. */
export interface Leave {
  /** Holder of the permit; absent if the type has no limit. */
  readonly holder?: string;
  /** ms for which the worker may count on the permit, from the moment at which it sent its request. */
  readonly remaining: number;
}

const UNLIMITED: Leave = { remaining: Infinity };

/**
 * The limits of types for external workers: permits of `task:<type>` that no node keeps alive. The worker refreshes its
 * permit with each renewal of its task. The permit's holder stands in the task's record, so any node finds it.
 */
export class ExternalLimit {
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
  async take(type: string, worker: ExternalWorker, waited: number): Promise<Leave | TypeDenial> {
    const holder = this.context.random.id();
    try {
      return await this.#visit(type, async (record, semaphore) => {
        const asked = { semaphore, holder, ...worker };
        const asking = { mayTake: true, permitId: this.context.random.id(), waited };
        const answer = await record.take(asked, asking);
        if (answer.outcome === 'granted') return { holder, remaining: answer.remaining };
        const { reason, freeIn } = record.withEnd(answer);
        return { type, reason, ...(freeIn !== undefined && { freeIn }) };
      });
    } catch (error) {
      if (error instanceof UnknownSemaphoreError) return UNLIMITED;
      throw error;
    }
  }

  /**
   * Makes the permit of an attempt last for another duration of the limit. It needs none after the limit was removed.
   *
   * @throws errors of a store that can't be asked
   */
  refresh(type: string, instance: string, holder: string): Promise<Leave | TypeDenial> {
    return this.#visit(type, async (record, semaphore, known) => {
      const answer = await record.refresh(isOf(instance, holder), { semaphore });
      if (answer.outcome === 'granted') return { holder, remaining: answer.remaining };
      if (!known()) return UNLIMITED;
      return { type, reason: answer.reason };
    });
  }

  /** Never rejects: a permit that could not be released expires. */
  async free(type: string, instance: string, holder: string | undefined): Promise<void> {
    if (holder === undefined) return;
    await this.#visit(type, (record) => record.free(isOf(instance, holder))).catch((error: unknown) => {
      const semaphore = TASK_PREFIX + type;
      this.context.events.next({ type: 'problem', semaphore, action: 'give a permit back', error });
    });
  }

  async #visit<T>(
    type: string,
    work: (record: ExternalRecord, name: string, isDefined: () => boolean) => Promise<T>,
  ): Promise<T> {
    return this.directory.of(TASK_PREFIX + type).use((semaphore) => {
      const isDefined = () => semaphore.cell.known?.definition !== undefined;
      return work(new ExternalRecord(semaphore, this.context), semaphore.name, isDefined);
    });
  }
}

const isOf = (instance: string, holder: string) => (permit: { readonly instance: string; readonly holder: string }) =>
  permit.instance === instance && permit.holder === holder;

/** Types of tasks that one program may name on one node in {@link SPAN}: each one has queues in the store. */
const MOST_TYPES = 1000;
/** ms for which a type counts after it was named last. */
const SPAN = 600_000;
/** Programs that are remembered. Beyond that, the one that has named no type for the longest time is forgotten. */
const MOST_PROGRAMS = 200;

/** Counts the types of tasks that programs name: each one by itself, so that none uses up those of another one. */
export class TypeBudgets {
  /** When each type was named last (monotonic ms), by program. Those that were named last come last. */
  readonly #programs = new Map<string, Map<string, number>>();

  constructor(private readonly clock: Pick<Context['nodeClock'], 'monotonic'>) {}

  /** Notes the types that a program names. @throws TooManyTypesError if they are too many; then none is noted */
  expect(program: string, types: readonly string[]): void {
    const now = this.clock.monotonic();
    const named = this.#of(program);
    for (const [type, at] of named) {
      if (now - at < SPAN) break;
      named.delete(type);
    }
    const added = new Set(types.filter((type) => !named.has(type)));
    if (named.size + added.size > MOST_TYPES) throw new TooManyTypesError(MOST_TYPES);
    for (const type of types) {
      named.delete(type);
      named.set(type, now);
    }
  }

  #of(program: string): Map<string, number> {
    const named = this.#programs.get(program) ?? new Map<string, number>();
    this.#programs.delete(program);
    this.#programs.set(program, named);
    if (this.#programs.size > MOST_PROGRAMS) this.#programs.delete(this.#programs.keys().next().value!);
    return named;
  }
}
