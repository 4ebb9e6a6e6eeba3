import { pause } from '../../core/async/pause.js';
import type { Context } from '../../core/context/context.js';
import { type DenialReason, TASK_PREFIX, isActive, mismatchOf } from '../../core/decision/index.js';
import { type PermitLostError, UnknownSemaphoreError, AcquireTimeoutError } from '../../core/permits/permits.errors.js';
import type { NodeSemaphore } from '../../core/permits/node-semaphore.js';
import type { Permit } from '../../core/permits/permit.js';
import type { SemaphoreDirectory } from '../../core/permits/semaphore-directory.js';

/** ms of one wait for a permit. Then the worker looks whether the type is limited at all. */
const PATIENCE = 5000;
/** ms before the next wait after an unexpected error. */
const RETRY = 1000;
/** ms for which one permit serves one attempt after another. Then another node has a chance, and an edit applies. */
const SERIES = 1000;

/** The semaphore `task:<type>`, as nodes and programs ask for its permits. Without a definition the type has no limit. */
export class TypeSemaphore {
  readonly #semaphore: NodeSemaphore;

  constructor(
    type: string,
    directory: Pick<SemaphoreDirectory, 'of'>,
    private readonly context: Pick<Context, 'events'>,
  ) {
    this.#semaphore = directory.of(TASK_PREFIX + type);
  }

  get name(): string {
    return this.#semaphore.name;
  }

  /** Why the record, as last seen, would deny a permit to this node. Does not ask the store. */
  get denial(): DenialReason | undefined {
    return this.#semaphore.denial;
  }

  /** @returns the result of `work`, or of `unlimited` if there is no definition @throws any other error of `work` */
  async use<T>(work: (semaphore: NodeSemaphore) => Promise<T>, unlimited: () => T): Promise<T> {
    try {
      return await this.#semaphore.use(work);
    } catch (error) {
      if (error instanceof UnknownSemaphoreError) return unlimited();
      throw error;
    }
  }

  /** Never rejects: a permit that is not released is tried again, or expires. */
  async release(call: () => Promise<unknown>): Promise<void> {
    await call().catch(this.problem('give a permit back'));
  }

  problem(action: string): (error: unknown) => void {
    return (error) => this.context.events.next({ type: 'problem', semaphore: this.name, action, error });
  }
}

/** An attempt that a lost permit ends. */
export interface Interruptible {
  /** @param isRenewed whether its lease goes on as before */
  interrupt(error: Error, isRenewed: boolean): void;
}

/**
 * The limit of a type for the workers of a node: the semaphore `task:<type>`. Without a definition there is none, and no permit is taken.
 *
 * | the limit | begins                                  | a worker                                                         |
 * | --------- | --------------------------------------- | ---------------------------------------------------------------- |
 * | open      | no definition; or no hint was there     | takes a hint, then a permit; gives the hint back if denied       |
 * | shut      | the node's start; a denial, or a pause  | waits for a permit, then looks for a hint; else gives it back    |
 *
 * So an idle node holds no permit, and a node that gets none takes no hints from the others.
 */
export class TypeLimit {
  readonly #semaphore: TypeSemaphore;
  /** Before the first answer of the store the type may be paused. */
  #isShut = true;

  constructor(
    type: string,
    private readonly directory: Pick<SemaphoreDirectory, 'of' | 'own'>,
    private readonly context: Context,
  ) {
    this.#semaphore = new TypeSemaphore(type, directory, context);
  }

  /** Whether a worker must have a permit before it looks for a hint. Does not ask the store. */
  get isShut(): boolean {
    return this.#mismatch !== undefined || (this.#isShut && !this.#isRemoved);
  }

  /** Whether an attempt needs a permit, as this node knows. Does not ask the store. */
  get isLimited(): boolean {
    return this.#known?.definition !== undefined;
  }

  /** Why this node begins no attempt now. Does not ask the store. */
  get obstacle(): DenialReason | undefined {
    if (!this.isShut) return undefined;
    return this.#mismatch ?? this.#semaphore.denial ?? (this.isLimited ? undefined : 'unavailable');
  }

  /**
   * Reads the semaphore, if this node has not: a node that has just started knows of no pause.
   *
   * @throws StoreUnavailableError, CorruptRecordError, NewerRecordError
   */
  async learn(): Promise<void> {
    if (!this.#known) await this.directory.own.of(this.#semaphore.name).look();
  }

  /** A look under a permit found no hint: the next attempt takes its hint first. */
  open(): void {
    this.#isShut = false;
  }

  /** Takes a permit for an attempt, if one is needed. @returns undefined if this node gets none now */
  async admit(): Promise<TypePermit | undefined> {
    if (!this.isLimited) return this.#unlimited();
    const take = async (limit: NodeSemaphore) => {
      const permit = await limit.tryAcquire(this.options);
      return permit && new TypePermit(this, this.context, permit);
    };
    try {
      const permit = await this.#semaphore.use<TypePermit | undefined>(take, () => this.#unlimited());
      if (permit) return permit;
    } catch (error) {
      this.#semaphore.problem('take a permit')(error);
    }
    this.#isShut = true;
    return undefined;
  }

  /** Waits for a permit. @returns undefined if there is none after a while, or none is needed */
  async wait(signal: AbortSignal): Promise<TypePermit | undefined> {
    const options = { ...this.options, timeout: PATIENCE, signal };
    const take = async (limit: NodeSemaphore) => new TypePermit(this, this.context, await limit.acquire(options));
    try {
      return await this.#semaphore.use<TypePermit | undefined>(take, () => void this.open());
    } catch (error) {
      if (!signal.aborted) await this.#rest(error, signal);
      return undefined;
    }
  }

  /** Never rejects: a release that fails is tried again in the background, until the permit expires. */
  release(permit: Permit): Promise<void> {
    return this.#semaphore.release(() => permit.release());
  }

  /** Whether the definition, as this node knows it, would let a new attempt begin in a permit's slot. */
  admits({ slot }: Permit): boolean {
    return this.#mismatch === undefined && slot < (this.#known?.definition?.permits ?? 0);
  }

  #unlimited(): TypePermit {
    return new TypePermit(this, this.context);
  }

  /** Each attempt has a permit of its own. */
  private get options() {
    return { holder: this.context.random.id(), keepAlive: true };
  }

  get #known() {
    return this.directory.own.of(this.#semaphore.name).known;
  }

  get #mismatch(): 'paused' | 'group' | 'acquirer' | undefined {
    const { definition, pause: paused } = this.#known ?? {};
    const mismatch = definition && mismatchOf(definition, this.context.node);
    return mismatch && paused ? 'paused' : mismatch;
  }

  /** Whether an operator removed the definition. Code that declares it does not bring it back. */
  get #isRemoved(): boolean {
    const known = this.#known;
    return known !== undefined && isActive(known) && !known.definition;
  }

  async #rest(error: unknown, signal: AbortSignal): Promise<void> {
    const isDenied = error instanceof AcquireTimeoutError;
    if (!isDenied) this.#semaphore.problem('wait for a permit')(error);
    // A node that shuts down is denied at once.
    if (!isDenied || this.context.isClosing()) await pause(this.context.nodeClock, RETRY, { signal, isAwaited: false });
  }
}

/** The limit's part of an admission: a permit that this node keeps alive, or none if the type has no limit. */
export class TypePermit {
  readonly #begun: number;

  constructor(
    private readonly limit: TypeLimit,
    private readonly context: Context,
    private readonly permit?: Permit,
  ) {
    this.#begun = context.nodeClock.monotonic();
  }

  /** Whether the attempt runs without a permit. */
  get isFree(): boolean {
    return this.permit === undefined;
  }

  /** False if the permit is lost. After a removal of the definition an attempt needs none. */
  get isValid(): boolean {
    return this.permit === undefined || this.permit.isHeld || !this.limit.isLimited;
  }

  /** Whether another attempt may begin under the same permit. */
  get mayContinue(): boolean {
    if (!this.permit?.isHeld || !this.limit.admits(this.permit)) return false;
    return this.context.nodeClock.monotonic() - this.#begun < SERIES;
  }

  /** Aborts the signal of the attempt when the permit is lost. The lease goes on, because the task stays this node's. @returns a function that ends this */
  guard(held: Interruptible): () => void {
    const { permit } = this;
    if (!permit) return () => undefined;
    const { signal } = permit;
    const lose = () => {
      if (!this.isValid) held.interrupt(signal.reason as PermitLostError, true);
    };
    signal.addEventListener('abort', lose, { once: true });
    if (signal.aborted) lose();
    return () => signal.removeEventListener('abort', lose);
  }

  /** As {@link TypeLimit.release}. */
  async release(): Promise<void> {
    if (this.permit) await this.limit.release(this.permit);
  }
}
