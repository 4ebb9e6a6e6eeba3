import type { NodeClock } from '../../core/async/node-clock.js';
import type { NodeIdentity } from '../../gatekeeper/index.js';
import type { AttemptOptions } from '../../core/permits/call-options.js';
import type { RunLeases } from '../../core/permits/runs/runner.js';
import { Lease } from '../../core/permits/lease.js';
import { type AcquireOutcome, HeldPermit, type PermitOwner } from '../../core/permits/held-permit.js';
import type { LossReason } from '../../core/context/events.js';
import { NoQuorumError, StoreUnavailableError } from '../../core/store/index.js';
import type { TestDenial } from './test-calls.js';

/** A clock that stands still and has no timers. So a permit ends only on command, even if a test uses fake timers. */
export const STOPPED_CLOCK: NodeClock = {
  monotonic: () => 0,
  wall: () => 0,
  schedule: () => () => undefined,
  nextTurn: setImmediate,
};

const CONTEXT = { nodeClock: STOPPED_CLOCK, timing: { clockTolerance: 0, callTimeout: 0, strictStart: false } };
/** Duration of a permit in ms if the call gives none. It has no effect, because no time passes here. */
const ANY_DURATION = 60_000;

/** The permits of one semaphore, without a record. They are granted or denied as the test says. */
export class TestLeases implements RunLeases, PermitOwner {
  #leases = new Set<Lease>();
  #token = 0;

  constructor(
    readonly semaphore: string,
    private readonly node: NodeIdentity,
    /** Returns the reason for which the test denies the semaphore; undefined if it grants. */
    private readonly denial: () => TestDenial | undefined,
  ) {}

  get leases(): readonly Lease[] {
    return [...this.#leases];
  }

  async attempt(options: AttemptOptions): Promise<AcquireOutcome> {
    const reason = this.denial();
    if (reason === undefined) return { permit: this.#grant(options) };
    const error = errorOf(reason, this.semaphore);
    return { reason, holders: [], ...(error && { error }) };
  }

  async refresh(lease: Lease): Promise<boolean> {
    return lease.isHeld;
  }

  async release(permit: HeldPermit): Promise<void> {
    permit.end('released');
    this.#leases.delete(permit.lease);
  }

  holdUntilExpiry(permit: HeldPermit): Promise<void> {
    return this.release(permit);
  }

  endUse(permit: HeldPermit, reason: LossReason): void {
    permit.end(reason);
    this.#leases.delete(permit.lease);
  }

  /** Ends all held permits. @returns how many they were */
  lose(reason: LossReason): number {
    const { size } = this.#leases;
    for (const lease of this.#leases) lease.finish(reason);
    this.#leases.clear();
    return size;
  }

  #grant({ holder, acquirer, duration = ANY_DURATION, keepAlive = false }: AttemptOptions): HeldPermit {
    const { instance, group } = this.node;
    const token = ++this.#token;
    const granted = Date.now();
    const permit = {
      id: `${this.semaphore}.${token}`,
      slot: 0,
      token,
      instance,
      holder: holder ?? instance,
      acquirer: acquirer ?? this.node.acquirer,
      group,
      grantedAt: granted,
      expiresAt: granted + duration,
      duration,
    };
    const lease = new Lease(permit, { monotonic: 0, wall: 0 }, CONTEXT, () => undefined);
    this.#leases.add(lease);
    return new HeldPermit(lease, this, keepAlive);
  }
}

function errorOf(reason: TestDenial, semaphore: string): Error | undefined {
  const sentence = `the test makes the store of semaphore ${JSON.stringify(semaphore)} unreachable`;
  if (reason === 'no-quorum') return new NoQuorumError(sentence);
  return reason === 'unavailable' ? new StoreUnavailableError(sentence) : undefined;
}
