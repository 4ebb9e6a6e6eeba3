import type { CancelTimer } from '../../../lib/core/async/node-clock.js';
import { type Permit, type RunOptions, type RunPermit, UnguardedPermit } from '../../../lib/gatekeeper/index.js';
import { GatekeeperError } from '../../../lib/core/decision/index.js';
import type { Chance } from '../world/chance.js';
import type { SimNode } from './node.js';
import { SEMAPHORE, type World, anyDuration } from '../world/world.js';

const ACTIONS = { run: 40, hold: 25, wait: 10, edit: 4, pause: 1, revoke: 3, look: 3 };

/** The reason of a signal that ends a wait. */
class GaveUp extends GatekeeperError {
  readonly code = 'gave-up';

  constructor() {
    super('the simulated caller waits no longer');
  }
}

/** Work of the application on a node under its permits, by chance. */
export class Workload {
  /** Uses that go on. */
  busy = 0;
  /** Draws for waiting, loud skips and giving up. */
  readonly #later: Chance;
  #cancelTimer?: CancelTimer;

  constructor(
    private readonly node: SimNode,
    private readonly world: World,
    private readonly chance: Chance,
  ) {
    this.#later = chance.beside();
  }

  start(): void {
    this.#cancelTimer = this.node.process.schedule(
      () => {
        this.node.watch('workload', this.#act());
        this.start();
      },
      this.chance.skewed(...this.world.measures.pauses),
    );
  }

  /** Starts nothing new; uses that go on end by themselves. */
  stop(): void {
    this.#cancelTimer?.();
  }

  async #act(): Promise<void> {
    const action = this.chance.weighted(ACTIONS);
    this.busy++;
    try {
      await this[action]();
    } catch (error) {
      if (!(error instanceof GatekeeperError)) throw error;
      this.world.trace.note(this.node.name, () => `${action}: ${error.message}`);
    } finally {
      this.busy--;
    }
  }

  async run(): Promise<void> {
    const { chance, node } = this;
    const { patience } = this.world.measures;
    const who = { holder: this.#holder(), job: chance.pick(['one', 'two']) };
    const isKept = chance.happens(0.4);
    const options: RunOptions = {
      ...who,
      keepAlive: chance.happens(0.7),
      overlap: chance.pick(['skip', 'allow']),
      onUnavailable: chance.happens(0.1) ? 'run' : 'skip',
      atLeastFor: this.#atLeastFor(isKept),
      maxRunTime: chance.happens(0.2) ? chance.whole(100, patience) : undefined,
      duration: chance.happens(0.1) ? anyDuration(this.world, this.chance) : undefined,
      wait: this.#later.happens(0.25) ? this.#later.whole(0, patience) : undefined,
      onSkip: this.#later.happens(0.2) ? 'throw' : undefined,
    };
    const result = await node.gatekeeper.run(SEMAPHORE, (permit) => this.#work(permit), options);
    this.world.trace.note(node.name, () => `run ${JSON.stringify(options)} -> ${JSON.stringify(result)}`);
    if (options.onSkip && !result.executed) this.world.checker.violated(`${node.name} skipped a run without an error`);
  }

  #atLeastFor(isKept: boolean): number | undefined {
    const { chance } = this;
    const least = chance.happens(0.2) ? chance.whole(10, this.world.measures.patience / 2) : 0;
    return isKept ? undefined : least;
  }

  async hold(): Promise<void> {
    const options = { holder: this.#holder(), keepAlive: this.chance.happens(0.5) };
    const permit = await this.node.gatekeeper.tryAcquire(SEMAPHORE, options);
    if (permit) await this.#use(permit);
  }

  async wait(): Promise<void> {
    const { patience } = this.world.measures;
    const options = {
      holder: this.#holder(),
      timeout: this.chance.whole(0, patience),
      keepAlive: this.chance.happens(0.5),
    };
    if (!this.#later.happens(0.3)) return this.#use(await this.node.gatekeeper.acquire(SEMAPHORE, options));
    const giveUp = new AbortController();
    const cancel = this.node.process.schedule(() => giveUp.abort(new GaveUp()), this.#later.whole(0, patience));
    try {
      await this.#use(await this.node.gatekeeper.acquire(SEMAPHORE, { ...options, signal: giveUp.signal }));
    } finally {
      cancel();
    }
  }

  async edit(): Promise<void> {
    const { chance } = this;
    if (this.world.deploys && chance.happens(0.7))
      return void (await this.node.gatekeeper.definitions.reset(SEMAPHORE));
    const change = chance.pick([
      { permits: chance.pick([0, 1, 1, 1, 2, 2, 3, 4]) },
      { groupPattern: chance.pick(['a', 'b', '.*', 'a|b']) },
      { acquirerPattern: chance.pick(['n1', 'n[12].*', '.*']) },
      ...(this.world.faultMix.longPermits ? [{ duration: anyDuration(this.world, this.chance) }] : []),
    ]);
    this.world.trace.note(this.node.name, () => `edits to ${JSON.stringify(change)}`);
    await this.node.gatekeeper.definitions.edit(SEMAPHORE, change);
  }

  /** For a while no new permit is granted; runs that go on may finish. */
  async pause(): Promise<void> {
    if (this.world.deploys || this.chance.happens(1 / 3)) return this.#pauseByName();
    const { definitions } = this.node.gatekeeper;
    await definitions.edit(SEMAPHORE, { permits: 0 });
    await this.node.pause(this.chance.skewed(20, this.world.measures.longest));
    await definitions.edit(SEMAPHORE, { permits: this.chance.whole(1, 4) });
  }

  /** The record remembers the group pattern that resuming restores, not the node that pauses. */
  async #pauseByName(): Promise<void> {
    const { definitions } = this.node.gatekeeper;
    await definitions.pause(SEMAPHORE, { by: this.node.name, reason: 'by chance' });
    await this.node.pause(this.chance.skewed(20, this.world.measures.longest));
    await definitions.resume(SEMAPHORE, { by: this.node.name });
  }

  async revoke(): Promise<void> {
    const { semaphores } = await this.node.gatekeeper.state();
    const victim = semaphores[0]?.holders[0];
    if (!victim) return;
    this.world.checker.revoked(victim.id);
    await this.node.gatekeeper.definitions.revoke(SEMAPHORE, victim.id);
  }

  async look(): Promise<void> {
    await this.node.gatekeeper.explain(SEMAPHORE);
  }

  async #use(permit: Permit): Promise<void> {
    await this.#work(permit);
    if (this.chance.happens(0.1)) return this.node.forget(permit);
    await permit.release();
  }

  async #work(permit: RunPermit): Promise<void> {
    const { chance, node } = this;
    const heedsSignal = chance.happens(0.6);
    if (heedsSignal) void permit.signal;
    for (let steps = chance.whole(1, this.world.measures.steps); steps > 0; steps--) {
      await node.pause(chance.skewed(5, this.world.definition.duration));
      this.#checkTold(permit);
      if (heedsSignal && permit.signal.aborted) return;
      if (chance.happens(0.2) && !(permit instanceof UnguardedPermit)) await this.#extend(permit);
    }
  }

  /** S4: a use that has not given its permit back hears that it is over, also if the process ended the lease by itself. */
  #checkTold(permit: RunPermit): void {
    if (permit.isHeld || permit instanceof UnguardedPermit || permit.signal.aborted) return;
    this.world.checker.violated(`S4 ${this.node.name} ended a use as if its caller had released it`);
  }

  async #extend(permit: RunPermit): Promise<void> {
    const duration = this.chance.happens(0.5) ? anyDuration(this.world, this.chance) : undefined;
    try {
      await permit.extend(duration);
    } catch (error) {
      if (!(error instanceof GatekeeperError)) throw error;
    }
  }

  #holder(): string | undefined {
    return this.chance.happens(0.3) ? this.chance.pick(['h1', 'h2']) : undefined;
  }
}
