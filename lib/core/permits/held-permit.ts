import { parseAcquireOptions } from './call-options.js';
import { PermitLostError } from './permits.errors.js';
import type { DenialReason, StoredPermit } from '../decision/index.js';
import { isUnreadable } from '../cell/known-record.js';
import { ShardsUnreadError } from '../cell/shards-unread.error.js';
import { NoQuorumError, isStoreError } from '../store/index.js';
import type { LossReason } from '../context/events.js';
import type { Lease, LeaseUser } from './lease.js';
import type { Permit } from './permit.js';

/** The owner of the leases: refreshes and releases them for their uses. */
export interface PermitOwner {
  readonly semaphore: string;
  /** @param duration ms, for this refresh only @returns false if the permit was lost */
  refresh(lease: Lease, duration?: number): Promise<boolean>;
  release(permit: HeldPermit): Promise<void>;
}

/** One use of a lease. */
export class HeldPermit implements Permit, LeaseUser {
  #ended?: LossReason;
  #aborter?: AbortController;

  constructor(
    readonly lease: Lease,
    private readonly owner: PermitOwner,
    readonly keepAlive: boolean,
  ) {
    lease.users.add(this);
  }

  get isGuarded(): boolean {
    return true;
  }

  get semaphore(): string {
    return this.owner.semaphore;
  }

  get id(): string {
    return this.lease.permit.id;
  }

  get slot(): number {
    return this.lease.permit.slot;
  }

  get token(): number {
    return this.lease.permit.token;
  }

  get instance(): string {
    return this.lease.permit.instance;
  }

  get acquirer(): string {
    return this.lease.permit.acquirer;
  }

  get group(): string {
    return this.lease.permit.group;
  }

  get grantedAt(): number {
    return this.lease.permit.grantedAt;
  }

  get expiresAt(): number {
    return this.lease.permit.expiresAt;
  }

  get signal(): AbortSignal {
    this.#aborter ??= new AbortController();
    if (!this.isHeld) this.#abortIfLost();
    return this.#aborter.signal;
  }

  get isHeld(): boolean {
    return this.#ended === undefined && this.lease.isHeld;
  }

  get remaining(): number {
    return this.isHeld ? Math.max(0, this.lease.remaining) : 0;
  }

  /** Why it was lost; undefined while it is held, and after its release. Reads the clocks. */
  get loss(): LossReason | undefined {
    const ended = this.#ended ?? this.lease.end;
    return ended === 'released' ? undefined : ended;
  }

  assertHeld(): void {
    if (!this.isHeld) throw new PermitLostError(this.semaphore, this.#ended ?? 'expired');
  }

  async extend(duration?: number | string): Promise<void> {
    if (!(await this.refresh({ duration }))) throw new PermitLostError(this.semaphore, this.#ended ?? 'expired');
  }

  async refresh(options: { duration?: number | string | undefined } = {}): Promise<boolean> {
    const { duration } = options.duration === undefined ? {} : parseAcquireOptions(this.semaphore, options);
    return this.isHeld && (await this.owner.refresh(this.lease, duration));
  }

  release(): Promise<void> {
    return this.owner.release(this);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.release();
  }

  /** Only data: the object itself has circular references to the whole gatekeeper. */
  toJSON(): object {
    return { semaphore: this.semaphore, ...this.lease.permit, isHeld: this.isHeld, remaining: this.remaining };
  }

  /** Ends this use. Other uses may keep the permit. */
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
export type AcquireOutcome =
  | { readonly permit: HeldPermit }
  | {
      readonly permit?: undefined;
      readonly reason: DenialReason;
      readonly holders: readonly StoredPermit[];
      /** Why the store could not be asked, or the record could not be read. */
      readonly error?: Error;
    };

/**
 * Turns an error into a denial, if the store can't be asked or the record can't be read.
 *
 * @throws any other error, because it is a bug of this program
 */
export function deniedBy(error: unknown): AcquireOutcome & { readonly permit?: undefined; readonly error: Error } {
  if (isUnreadable(error)) return { reason: error.code, holders: [], error };
  if (!isStoreError(error)) throw error;
  // `onUnavailable: 'run'` must not apply here: the definition that is not loaded yet may be paused.
  if (error instanceof ShardsUnreadError && error.isDeclared) return { reason: 'no-definition', holders: [], error };
  return { reason: error instanceof NoQuorumError ? error.code : 'unavailable', holders: [], error };
}

/** Whether an error that denied an attempt comes from the store itself, and not from a record in it. */
export function isOutage(error: unknown): boolean {
  return !isUnreadable(error) && !(error instanceof ShardsUnreadError);
}
