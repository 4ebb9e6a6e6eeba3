import { type Explanation, type LossReason, type Semaphore, markAsStandIn, partsOf } from '../../gatekeeper/index.js';
import { GatekeeperService } from '../../nest/gatekeeper.service.js';
import { show } from '../../decision/index.js';
import { memory } from '../../stores/memory/index.js';
import { type TestCall, type TestDenial, TestScript } from './test-calls.js';
import { TestSemaphore } from './test-semaphore.js';

/** The identity of a {@link TestGatekeeper}. */
export interface TestGatekeeperOptions {
  /** The node's group. Default "default". */
  readonly group?: string;
  /** The node's name. Default "test". */
  readonly acquirer?: string;
}

/**
 * A GatekeeperService for unit tests: it grants every permit until the test denies it, records the calls, and
 * loses permits on command. It never waits, has no timers, and needs no close. Overlapping runs are skipped as usual.
 * Everything else (`definitions`, `state()`, ...) works as over an empty `memory()`.
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

  constructor({ group = 'default', acquirer = 'test' }: TestGatekeeperOptions = {}) {
    // Loads nothing into the store: writes would set timers and log lines.
    const store = { ...memory(), isOwn: false };
    super({ store, group, acquirer, heartbeat: 0, history: false });
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
   * From now on denies the permits of a semaphore. Permits that are held stay.
   *
   * @param reason default "no-permit"; "unavailable" and "no-quorum" simulate an unreachable store
   */
  deny(semaphore: string, reason: TestDenial = 'no-permit'): this {
    this.#script.set(semaphore, reason);
    return this;
  }

  /** {@link deny} for all semaphores; replaces earlier settings. */
  denyAll(reason: TestDenial = 'no-permit'): this {
    this.#script.setAll(reason);
    return this;
  }

  /** From now on grants the permits of a semaphore. */
  allow(semaphore: string): this {
    this.#script.set(semaphore, undefined);
    return this;
  }

  /** {@link allow} for all semaphores; replaces earlier settings. */
  allowAll(): this {
    this.#script.setAll(undefined);
    return this;
  }

  /**
   * Takes all permits of a semaphore away that are held now: signals abort, `assertHeld()` throws PermitLostError.
   *
   * @returns how many were held
   */
  lose(semaphore: string, reason: LossReason = 'expired'): number {
    return this.#semaphores.get(semaphore)?.lose(reason) ?? 0;
  }

  /** {@link lose} for all semaphores. */
  loseAll(reason: LossReason = 'expired'): number {
    return [...this.#semaphores.values()].reduce((count, semaphore) => count + semaphore.lose(reason), 0);
  }

  /** Forgets the calls, and allows everything. Permits that are held stay. */
  reset(): void {
    this.#script.reset();
  }

  override semaphore(name: string): Semaphore {
    super.semaphore(name); // Throws for an invalid name.
    const semaphore = this.#semaphores.get(name) ?? this.#create(name);
    this.#semaphores.set(name, semaphore);
    return semaphore;
  }

  /** Explains the test's setting in a sentence. */
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

  /** Ready at once. */
  override async ready(_options?: Parameters<GatekeeperService['ready']>[0]): Promise<void> {}

  /** Starts nothing, because there is no store to watch. */
  override async onModuleInit(): Promise<void> {}

  #create(name: string): TestSemaphore {
    return new TestSemaphore(name, this.node, this.#script, partsOf(this).directory.declared, () => this.explain(name));
  }
}
