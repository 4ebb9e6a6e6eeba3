import {
  type Explanation,
  type LossReason,
  type OwnPermit,
  type Semaphore,
  keepParts,
  markAsStandIn,
  ownPermits,
  partsOf,
} from '../../gatekeeper/index.js';
import { GatekeeperService } from '../../nest/gatekeeper.service.js';
import { LEADER_PREFIX, show } from '../../core/decision/index.js';
import {
  Allocation,
  type AllocationGroup,
  type AllocationListener,
  type GroupSettings,
} from '../../allocation/index.js';
import { memory } from '../../stores/memory/index.js';
import { type TestCall, type TestDenial, TestScript } from './test-calls.js';
import { TestSemaphore } from './test-semaphore.js';
import { TestGroup } from './test-group.js';

/** Options of a {@link TestGatekeeper}: the identity of its node. */
export interface TestGatekeeperOptions {
  /** The node's group. Default "default". */
  readonly group?: string;
  /** The node's name. Default "test". */
  readonly acquirer?: string;
}

/**
 * A GatekeeperService for unit tests. It grants every permit until the test denies it, records the calls, and loses
 * permits on command. It never waits, has no timers, and needs no close. So options about time (`wait`, `timeout`,
 * `atLeastFor`, `maxRunTime`) are checked, but have no effect. A long `duration` is accepted also for a name without a
 * definition. A failed run with `retry` is tried again at once. Overlapping runs are skipped as usual. Runs and permits
 * make no events. Everything else (`definitions`, `state()`, ...) works as with an empty `memory()`.
 *
 * ```ts
 * const gatekeeper = new TestGatekeeper();
 * const jobs = guardWith(new Jobs(), gatekeeper);
 * gatekeeper.deny('nightly-export', 'paused');
 * await jobs.export(); // the body does not run
 * gatekeeper.calls; // [{ method: 'run', semaphore: 'nightly-export', job: 'Jobs.export', outcome: 'paused', … }]
 * ```
 */
export class TestGatekeeper extends GatekeeperService {
  readonly #script = new TestScript();
  readonly #semaphores = new Map<string, TestSemaphore>();
  readonly #allocation: TestAllocation;
  override readonly allocation: Allocation;

  constructor({ group = 'default', acquirer = 'test' }: TestGatekeeperOptions = {}) {
    super({ store: memory(), group, acquirer, heartbeat: 0, history: false });
    const parts = partsOf(this);
    // It is healthy without a start, and a store in memory leaves nothing to close.
    parts.context.store.open();
    this.#allocation = new TestAllocation(parts);
    this.allocation = this.#allocation;
    keepParts(this, { ...parts, allocation: this.allocation, explain: (name) => this.explain(name) });
    markAsStandIn(this);
  }

  /** The calls that asked for a permit, oldest first. */
  get calls(): readonly TestCall[] {
    return this.#script.calls;
  }

  /** The calls that asked for a permit of one semaphore, oldest first. */
  callsOf(semaphore: string): TestCall[] {
    return this.calls.filter((call) => call.semaphore === semaphore);
  }

  /**
   * Denies the permits of a semaphore from now on. Held permits stay.
   *
   * @param semaphore its name
   * @param reason default "no-permit"; "unavailable" and "no-quorum" simulate an unreachable store
   * @returns this gatekeeper
   */
  deny(semaphore: string, reason: TestDenial = 'no-permit'): this {
    this.#script.set(semaphore, reason);
    return this;
  }

  /** Does the same as {@link deny} for all semaphores. Replaces all earlier settings. */
  denyAll(reason: TestDenial = 'no-permit'): this {
    this.#script.setAll(reason);
    return this;
  }

  /** Grants the permits of a semaphore from now on. @returns this gatekeeper */
  allow(semaphore: string): this {
    this.#script.set(semaphore, undefined);
    return this;
  }

  /** Does the same as {@link allow} for all semaphores. Replaces all earlier settings. */
  allowAll(): this {
    this.#script.setAll(undefined);
    return this;
  }

  /**
   * Ends all held permits of a semaphore: their signals abort, and `assertHeld()` throws a PermitLostError.
   *
   * @param semaphore its name
   * @param reason the reason of the PermitLostError. Default "expired"
   * @returns how many permits were held
   */
  lose(semaphore: string, reason: LossReason = 'expired'): number {
    return this.#semaphores.get(semaphore)?.lose(reason) ?? 0;
  }

  /** Does the same as {@link lose} for all semaphores. @returns how many permits were held */
  loseAll(reason: LossReason = 'expired'): number {
    return [...this.#semaphores.values()].reduce((count, semaphore) => count + semaphore.lose(reason), 0);
  }

  /**
   * Makes this node the owner of exactly these resources of an allocation group. Callbacks are called, and work on revoked
   * resources is aborted, as after a real change.
   *
   * @param group its name; a group exists as soon as it is used
   * @param resources the ids, or a map from id to resource
   * @returns a promise that resolves when the callbacks, and the work on revoked resources, have ended
   * @throws any error of a callback
   */
  own(group: string, resources: readonly string[] | ReadonlyMap<string, unknown>): Promise<void> {
    const items = Array.isArray(resources) ? resources.map((id) => [id, undefined] as const) : resources;
    return this.#allocation.testGroup(group).own(new Map(items as Iterable<readonly [string, unknown]>));
  }

  /** Forgets the recorded calls, and allows all permits. Held permits stay. */
  reset(): void {
    this.#script.reset();
  }

  override semaphore(name: string): Semaphore {
    // Throws for an invalid name. A method of @LeaderOnly asks for its scope's semaphore, which others may not use.
    if (!name.startsWith(LEADER_PREFIX)) super.semaphore(name);
    const semaphore = this.#semaphores.get(name) ?? this.#create(name);
    this.#semaphores.set(name, semaphore);
    return semaphore;
  }

  /** The permits that were granted and not released or lost. */
  override heldPermits(): readonly OwnPermit[] {
    return ownPermits([...this.#semaphores.values()].map(({ heldLeases }) => heldLeases));
  }

  /** Returns the decision that follows from the test's settings. Without holders. */
  override async explain(name: string): Promise<Explanation> {
    const reason = this.#script.denialOf(name);
    return {
      semaphore: name,
      outcome: reason ? 'denied' : 'granted',
      ...(reason && { reason }),
      sentence: reason ? `the test denies ${show(name)}: ${reason}` : `the test allows ${show(name)}`,
      holders: [],
      ...this.health(),
    };
  }

  /** Resolves at once. */
  override async ready(_options?: Parameters<GatekeeperService['ready']>[0]): Promise<void> {}

  /** Does nothing, because there is no store to watch. */
  override async onModuleInit(): Promise<void> {}

  #create(name: string): TestSemaphore {
    return new TestSemaphore(name, this.node, this.#script, partsOf(this).directory.declared, () => this.explain(name));
  }
}

/** The allocation groups of a {@link TestGatekeeper}. A group exists as soon as it is used. */
class TestAllocation extends Allocation {
  readonly #groups = new Map<string, TestGroup>();
  readonly #node: string;

  constructor({ context, membership, allocation, moveHistory }: ReturnType<typeof partsOf>) {
    super(context, membership, allocation.cluster, moveHistory);
    this.#node = context.node.acquirer;
  }

  override get groups(): readonly AllocationGroup[] {
    return [...this.#groups.values()];
  }

  override group<T>(name: string): AllocationGroup<T> {
    return this.testGroup(name) as AllocationGroup as AllocationGroup<T>;
  }

  override add(name: string, { onAllocated }: GroupSettings): AllocationGroup {
    const group = this.testGroup(name);
    if (onAllocated) group.onAllocated(onAllocated as AllocationListener);
    return group;
  }

  testGroup(name: string): TestGroup {
    const group = this.#groups.get(name) ?? new TestGroup(name, this.#node);
    this.#groups.set(name, group);
    return group;
  }

  override startWithFirst(): void {}
  override async start(): Promise<void> {}

  override async close(): Promise<void> {
    await Promise.all([...this.#groups.values()].map((group) => group.close()));
  }
}
