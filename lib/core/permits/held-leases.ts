import { type StoredPermit, askedAgain, decide, release, usableDuration, keepable } from '../decision/index.js';
import { UnknownOutcomeError } from '../store/index.js';
import type { UseCount } from '../async/use-count.js';
import type { Context } from '../context/context.js';
import type { LossReason } from '../context/events.js';
import type { AttemptOptions } from './call-options.js';
import { KeepAlive } from './keep-alive.js';
import { Lease } from './lease.js';
import { type AcquireOutcome, HeldPermit, type PermitOwner, deniedBy, isOutage } from './held-permit.js';
import { isUnreadable } from '../cell/known-record.js';
import type { Instant } from '../cell/plan.js';
import { OrphanCleanup } from './orphan-cleanup.js';
import type { SemaphoreCell, SemaphoreStep } from '../cell/semaphore-records.js';

const CLOSING: AcquireOutcome = { reason: 'closing', holders: [] };

/** A call for a permit. */
interface Asked {
  readonly holder: string;
  readonly keepAlive: boolean;
  /** The lease that a refresh joins. */
  readonly joined: Lease | undefined;
  /** Call this when the outcome of a write of the call is unknown. */
  readonly unclear: () => void;
}

/**
 * Acquires, refreshes and releases the leases of this process on one semaphore, at most one per holder.
 *
 * | lease     | begins when                                   | ends when                                            |
 * | --------- | --------------------------------------------- | ---------------------------------------------------- |
 * | held      | a grant was answered before the lease's end   | last use released; expired; revoked; closing         |
 * | kept      | a run ended, and `atLeastFor` was absent      | expired, or the node drains: no use releases it      |
 * | stopping  | the last use ended, but not the work under it | the work ended, then as above; expired               |
 * | uncertain | the outcome of a refresh is unknown           | next refresh, or an orphan clean-up after its end    |
 */
export class HeldLeases implements PermitOwner {
  readonly semaphore: string;
  #leases = new Map<string, Lease>();
  // The next four are created on first use: most calls for names on demand need none, and have new leases each.
  #orphans?: OrphanCleanup;
  #keepAlives?: Map<Lease, KeepAlive>;
  #verifying?: Set<Lease>;
  /** Uses that ended before the work under them. Until the work has ended, too, the permit must not go back. */
  #stopping?: Map<Lease, Set<HeldPermit>>;
  /** Settles when the unused permits have gone back; undefined before the shutdown. */
  #givenBack?: Promise<unknown>;
  #isClosed = false;

  constructor(
    private readonly cell: SemaphoreCell,
    /** Counts each lease until it ends, and calls for one. */
    private readonly uses: UseCount,
    private readonly context: Context,
  ) {
    this.semaphore = cell.name;
  }

  /** Takes back what an unclear write may have left in the record. */
  get orphans(): OrphanCleanup {
    if (this.#orphans) return this.#orphans;
    this.#orphans = new OrphanCleanup(this.cell, this.uses, this.context);
    // A call that ends after the close leaves nothing to wait for.
    if (this.#isClosed) this.#orphans.close();
    return this.#orphans;
  }

  get leases(): readonly Lease[] {
    return [...this.#leases.values()];
  }

  /** Whether a holder has a permit now. Default: the process itself. */
  holds(holder = this.context.node.instance): boolean {
    return this.#lease(holder) !== undefined;
  }

  /** Tries once to get or refresh a permit. A store that can't be asked counts as a denial. The caller's use counts for it. */
  async tryOnce(options: AttemptOptions): Promise<AcquireOutcome> {
    if (this.context.isClosing()) return CLOSING;
    const permitId = this.context.random.id();
    const holder = options.holder ?? this.context.node.instance;
    const { instance, group } = this.context.node;
    const { acquirer = this.context.node.acquirer, duration, keepAlive = false } = options;
    let joined: Lease | undefined;
    const unclear = () => {
      this.orphans.reclaim(permitId, duration);
      if (joined) this.#markUncertain(joined, duration);
    };
    try {
      const attempt = await this.cell.transact<AcquireOutcome>((record, view, nonce) => {
        const lease = this.#lease(holder);
        const [held, heldFor] = [lease?.permit, lease?.left];
        const usable = usableDuration(duration, record?.definition, this.context.timing.clockTolerance);
        const who = { instance, holder, acquirer, group, permitId, nonce, held, heldFor, duration: usable };
        const decision = decide(record, who, view);
        if (decision.outcome === 'refreshed') joined = lease;
        return this.#step(decision, { holder, keepAlive, joined: lease, unclear });
      }, duration);
      this.context.reachability.back();
      // This node began to shut down during the attempt, so no work may start.
      return attempt.permit && this.context.isClosing() ? await this.#refuse(attempt.permit) : attempt;
    } catch (error) {
      if (error instanceof UnknownOutcomeError) unclear();
      const denied = deniedBy(error);
      if (isOutage(error)) this.context.reachability.lost(denied.error);
      // During the shutdown the store is unreachable because this node closes it.
      return this.context.isClosing() ? CLOSING : denied;
    }
  }

  /**
   * Refreshes a lease that this process still has. Never grants a new permit.
   *
   * @returns false if the permit was lost
   */
  async refresh(lease: Lease, duration?: number): Promise<boolean> {
    const running = lease.users.size > 0;
    let requested = duration;
    const unclear = () => this.#markUncertain(lease, requested);
    this.uses.begin();
    try {
      return await this.cell.transact<boolean>(
        (record, view, nonce) => {
          if (!lease.isHeld) return { result: false, unclear };
          requested = duration ?? keepable(lease.permit.asked, record?.definition, this.context.timing.clockTolerance);
          const decision = decide(record, lease.refreshRequest({ nonce, running, duration: requested }), view);
          if (decision.outcome !== 'denied') {
            const done = (sent: Instant) => this.#renew(lease, decision.permit, sent) !== undefined;
            return { notify: 'none', write: decision.record, done };
          }
          // The permit is gone from the record. After other denials (a pattern no longer matches) it expires by itself.
          if (decision.reason === 'permit-lost' || decision.reason === 'no-definition') lease.finish('revoked');
          return { result: false, unclear };
        },
        duration ?? askedAgain(lease.permit),
      );
    } catch (error) {
      if (error instanceof UnknownOutcomeError) unclear();
      throw error;
    } finally {
      this.uses.end();
    }
  }

  /** Notes that the permit in the record may last longer, now or later, than its uses expect. */
  #markUncertain(lease: Lease, duration = 0): void {
    const isOver = !lease.isHeld;
    lease.markUncertain(duration);
    if (isOver) this.#reclaimDoubtful(lease);
  }

  /** Waits until the lease would have expired anyway, so that work that is still stopping keeps its margin. */
  #reclaimDoubtful(lease: Lease): void {
    if (lease.end !== 'expired' || lease.uncertain === undefined) return;
    const timeUntilExpiry = Math.max(0, lease.left + this.context.timing.clockTolerance);
    const isUnused = () => !lease.isKept;
    void this.orphans.reclaimLater(timeUntilExpiry, lease.permit.id, lease.uncertain, isUnused);
  }

  /** Releases one use, and the permit with its last use. */
  release(permit: HeldPermit): Promise<void> {
    const { lease } = permit;
    this.#stopped(permit);
    permit.end('released');
    const isStillUsed = this.#isUsed(lease) || (lease.isKept && !this.#givenBack) || !lease.isHeld;
    return isStillUsed ? Promise.resolve() : this.#giveBack(lease);
  }

  /**
   * Ends one use, but keeps the permit until it expires, so that a node with a late clock finds it taken. While this node
   * shuts down, the permit goes back at once: the process may be killed before it closes.
   */
  async holdUntilExpiry(permit: HeldPermit): Promise<void> {
    permit.lease.keep();
    if (this.#givenBack) return this.release(permit);
    this.#stopped(permit);
    permit.end('released');
  }

  /**
   * Ends a use whose work has not ended: its signal aborts, and the permit expires unless other uses keep it alive. Call
   * {@link release} or {@link holdUntilExpiry} when the work has ended.
   */
  endUse(permit: HeldPermit, reason: LossReason): void {
    if (!permit.isHeld) return;
    this.#stopping ??= new Map();
    this.#stopping.set(permit.lease, (this.#stopping.get(permit.lease) ?? new Set()).add(permit));
    permit.end(reason);
    this.context.events.next({ type: 'lost', semaphore: this.semaphore, permit: permit.lease.permit, reason });
  }

  /**
   * Refreshes leases whose permits are missing in the record or end earlier there: they were revoked, or the store lost
   * data. In a record that another node restored, a permit and the grace may end earlier than the holder expects.
   */
  verify(): void {
    if (this.#leases.size === 0) return;
    const ends = new Map(this.cell.known?.permits.map((permit) => [permit.id, permit.expiresAt]));
    for (const lease of this.leases) {
      const isForgotten = (ends.get(lease.permit.id) ?? -Infinity) < lease.permit.expiresAt;
      if (isForgotten && lease.isHeld) void this.#verify(lease);
    }
  }

  /** Verifies a lease, once at a time: its own read of the record may report the next change. */
  async #verify(lease: Lease): Promise<void> {
    const verifying = (this.#verifying ??= new Set());
    if (verifying.has(lease)) return;
    verifying.add(lease);
    try {
      await this.refresh(lease);
    } catch (error) {
      // The next change or sweep verifies it again.
      if (isUnreadable(error) || this.#isClosed) return;
      this.context.events.next({ type: 'problem', semaphore: this.semaphore, action: 'verify a permit', error });
    } finally {
      verifying.delete(lease);
    }
  }

  /**
   * Begins to release all unused permits, because this node shuts down. From now on each permit goes back as soon as the work
   * under it has ended. A release that fails is tried again in the background until {@link close}.
   */
  drain(): void {
    if (this.#givenBack) return;
    const idle = this.leases.filter((lease) => !this.#isUsed(lease));
    this.#givenBack = Promise.allSettled(idle.map((lease) => this.#giveBack(lease)));
  }

  /** Releases all unused permits, and ends the uses of runs that have not ended. */
  async close(): Promise<void> {
    this.drain();
    this.#isClosed = true;
    for (const keepAlive of this.#keepAlives?.values() ?? []) keepAlive.stop();
    this.#orphans?.close();
    // A run that has not ended may still work, so its permit is not released but expires.
    for (const lease of this.leases) if (lease.users.size > 0) lease.finish('closing');
    await this.#givenBack;
  }

  async #refuse(permit: HeldPermit): Promise<AcquireOutcome> {
    // If the store does not answer, the release is retried in the background, or the permit expires.
    await this.release(permit).catch(() => undefined);
    return CLOSING;
  }

  #isUsed(lease: Lease): boolean {
    return lease.users.size > 0 || this.#stopping?.has(lease) === true;
  }

  /** The work under a use has ended. */
  #stopped(permit: HeldPermit): void {
    const others = this.#stopping?.get(permit.lease);
    if (others?.delete(permit) && others.size === 0) this.#stopping?.delete(permit.lease);
  }

  #lease(holder: string): Lease | undefined {
    const lease = this.#leases.get(holder);
    return lease?.isHeld ? lease : undefined;
  }

  #step(
    decision: ReturnType<typeof decide>,
    { holder, keepAlive, joined, unclear }: Asked,
  ): SemaphoreStep<AcquireOutcome> {
    if (decision.outcome === 'denied') {
      return { result: { reason: decision.reason, holders: decision.holders }, unclear };
    }
    const { permit, record, outcome } = decision;
    return {
      notify: 'none',
      write: record,
      done: (sent) => {
        const lease = outcome === 'granted' ? this.#begin(holder, permit, sent) : this.#renew(joined!, permit, sent);
        return lease ? { permit: this.#use(lease, keepAlive) } : { reason: 'permit-lost', holders: [] };
      },
    };
  }

  #begin(holder: string, permit: StoredPermit, sent: Instant): Lease | undefined {
    this.uses.begin();
    const lease = new Lease(permit, sent, this.context, (ended, reason) => this.#ended(holder, ended, reason));
    // The answer came after the lease's end: no use may rely on the permit, so it goes back.
    if (!lease.isHeld) return void this.orphans.reclaim(permit.id);
    this.#leases.get(holder)?.finish('revoked');
    this.#leases.set(holder, lease);
    this.context.events.next({ type: 'granted', semaphore: this.semaphore, permit });
    return lease;
  }

  /**
   * Renews a lease. A lease that ended during the refresh stays lost, because its uses were notified. Its permit does not go
   * back at once: work under it may still be stopping, or be stuck.
   */
  #renew(lease: Lease, permit: StoredPermit, sent: Instant): Lease | undefined {
    if (!lease.isHeld) {
      this.#markUncertain(lease, permit.duration);
      return undefined;
    }
    lease.renew(permit, sent);
    this.context.events.next({ type: 'refreshed', semaphore: this.semaphore, permit });
    return lease;
  }

  #use(lease: Lease, keepAlive: boolean): HeldPermit {
    const permit = new HeldPermit(lease, this, keepAlive);
    if (!keepAlive) return permit;
    const refresh = () => this.refresh(lease);
    this.#keepAlives ??= new Map();
    const keeping = this.#keepAlives.get(lease) ?? new KeepAlive(this.semaphore, lease, this.context, refresh);
    this.#keepAlives.set(lease, keeping);
    keeping.start();
    return permit;
  }

  #ended(holder: string, lease: Lease, reason: LossReason): void {
    if (this.#leases.get(holder) === lease) this.#leases.delete(holder);
    this.#keepAlives?.get(lease)?.stop();
    this.#keepAlives?.delete(lease);
    this.#stopping?.delete(lease);
    this.#reclaimDoubtful(lease);
    const isLost = lease.users.size > 0 && reason !== 'released';
    if (isLost) this.context.events.next({ type: 'lost', semaphore: this.semaphore, permit: lease.permit, reason });
    this.uses.end();
  }

  async #giveBack(lease: Lease): Promise<void> {
    let ends = false;
    // A use that waited in the queue may have joined the lease, or a short run may have joined and ended during this call.
    const goesOn = () => this.#isUsed(lease) || (lease.isKept && !this.#givenBack);
    this.uses.begin();
    try {
      await this.cell.transact<void>((record, view, nonce) => {
        if (goesOn()) return { result: undefined };
        ends ||= lease.isHeld; // Of several calls at the same time, one reports the release.
        // The lease ends before the request is sent: after that, another holder may get the slot.
        lease.finish('released');
        const next = record && release(record, lease.permit.id, view, nonce);
        return next ? { notify: 'waiting', write: next, done: () => undefined } : { result: undefined };
      });
      if (ends) this.context.events.next({ type: 'released', semaphore: this.semaphore, permit: lease.permit });
    } catch (error) {
      if (goesOn()) return;
      lease.finish('released');
      this.orphans.reclaim(lease.permit.id);
      throw error;
    } finally {
      this.uses.end();
    }
  }
}
