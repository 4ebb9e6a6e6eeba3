import { parseAcquireOptions } from './call-options.js';
import { PermitLostError } from './permits.errors.js';
import type { DenialReason, StoredPermit } from '../decision/index.js';
import type { LossReason } from '../context/events.js';
import type { Lease, LeaseUser } from './lease.js';

/** The leases that a permit is a use of. */
export interface PermitOwner {
  readonly semaphore: string;
  /** @param duration ms, for this once @returns false when the permit was lost */
  refresh(lease: Lease, duration?: number): Promise<boolean>;
  release(permit: Permit): Promise<void>;
}

/**
 * One use of a permit. Several uses in one process may share a permit of the store; it goes back with the last one.
 */
export class Permit implements LeaseUser {
  #ended?: LossReason;
  #aborter?: AbortController;

  /** @internal Permits come from a Semaphore. */
  constructor(
    readonly lease: Lease,
    private readonly owner: PermitOwner,
    readonly keepAlive: boolean,
  ) {
    lease.users.add(this);
  }

  /** Always true; see RunPermit. */
  get isGuarded(): boolean {
    return true;
  }

  /** Name of the semaphore. */
  get semaphore(): string {
    return this.owner.semaphore;
  }

  /** The same for all uses that share the permit, and kept by a refresh. */
  get id(): string {
    return this.lease.permit.id;
  }

  /** 0 .. permits-1: this permit's place; also "node k of n". */
  get slot(): number {
    return this.lease.permit.slot;
  }

  /**
   * The fencing token: grows with every grant of the semaphore. Send it along with each write; the resource keeps the
   * highest per (semaphore, slot) and refuses lower ones.
   */
  get token(): number {
    return this.lease.permit.token;
  }

  /** Process that holds the permit: a random id per process start. */
  get instance(): string {
    return this.lease.permit.instance;
  }

  /** Name of the acquirer that holds the permit. */
  get acquirer(): string {
    return this.lease.permit.acquirer;
  }

  /** Group of the node that holds the permit. */
  get group(): string {
    return this.lease.permit.group;
  }

  /** Cluster time in ms of the grant. */
  get grantedAt(): number {
    return this.lease.permit.grantedAt;
  }

  /** Cluster time in ms at which the permit ends in the store, unless it is refreshed. */
  get expiresAt(): number {
    return this.lease.permit.expiresAt;
  }

  /** Aborts, with a PermitLostError as its reason, when the permit ends other than by {@link release}. */
  get signal(): AbortSignal {
    this.#aborter ??= new AbortController();
    if (!this.isHeld) this.#abortIfLost();
    return this.#aborter.signal;
  }

  /** By the node's clocks, read now: right also after the process was frozen. */
  get isHeld(): boolean {
    return this.#ended === undefined && this.lease.isHeld;
  }

  /** ms for which this process may still count on the permit; 0 when it is over. */
  get remaining(): number {
    return this.isHeld ? Math.max(0, this.lease.remaining) : 0;
  }

  /**
   * Call it right before a step that must not be done without the permit.
   *
   * @throws PermitLostError when the permit is no longer held
   */
  assertHeld(): void {
    if (!this.isHeld) throw new PermitLostError(this.semaphore, this.#ended ?? 'expired');
  }

  /**
   * Refreshes the permit now.
   *
   * @param duration from now on, for this once; ms or text ("5m"). The one that the permit was taken with unless given.
   *   Never shortens. Later refreshes, also those of keep-alive, go on with the duration that the permit was taken with.
   * @throws PermitLostError when it is no longer held
   * @throws StoreUnavailableError or UnknownOutcomeError when the store can't say; the permit then lasts as it did
   */
  async extend(duration?: number | string): Promise<void> {
    if (!(await this.refresh({ duration }))) throw new PermitLostError(this.semaphore, this.#ended ?? 'expired');
  }

  /** As {@link extend}, but a permit that was lost is an answer, not an error. @returns false when it was lost */
  async refresh(options: { duration?: number | string | undefined } = {}): Promise<boolean> {
    const { duration } = options.duration === undefined ? {} : parseAcquireOptions(this.semaphore, options);
    return this.isHeld && this.owner.refresh(this.lease, duration);
  }

  /** Gives this use back. Idempotent. Errors as {@link extend}, but the release is then tried on until it expires. */
  release(): Promise<void> {
    return this.owner.release(this);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.release();
  }

  /** For logs and answers: the permit itself leads to the whole gatekeeper, and in circles. */
  toJSON(): object {
    return { semaphore: this.semaphore, ...this.lease.permit, isHeld: this.isHeld, remaining: this.remaining };
  }

  /** @internal Ends this use; the permit itself may live on in others. */
  end(reason: LossReason): void {
    if (this.#ended) return;
    this.#ended = reason;
    this.lease.users.delete(this);
    this.#abortIfLost();
  }

  #abortIfLost(): void {
    if (!this.#ended || this.#ended === 'released' || !this.#aborter || this.#aborter.signal.aborted) return;
    this.#aborter.abort(new PermitLostError(this.semaphore, this.#ended));
  }
}

/** The outcome of one attempt to get a permit. */
export type Attempt =
  | { readonly permit: Permit }
  | {
      readonly permit?: undefined;
      readonly reason: DenialReason;
      readonly holders: readonly StoredPermit[];
      /** Why the record could not be asked or read. */
      readonly error?: Error;
    };
