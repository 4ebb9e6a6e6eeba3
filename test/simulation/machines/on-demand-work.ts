import type { CancelTimer } from '../../../lib/core/async/node-clock.js';
import type { Permit, RunPermit, Semaphore } from '../../../lib/gatekeeper/index.js';
import {
  GatekeeperError,
  LONGEST_ON_DEMAND,
  type SemaphoreDefinition,
  parseDefinition,
} from '../../../lib/core/decision/index.js';
import type { Chance } from '../world/chance.js';
import { DEFINED_BY_SOME, type World, anyDuration } from '../world/world.js';
import type { SimNode } from './node.js';

/** No code defines these. Few, so that nodes meet; with few shards, some of them share one. */
export const ON_DEMAND = ['order-1', 'order-2', 'order-3'];
/** How many calls ask for more than any name may have without a definition. */
const TOO_LONG = 0.05;

const ACTIONS = { hold: 6, run: 3, wait: 2 };

/** Work under semaphores that no code defines: every call says for how long, and each says something else. */
export class OnDemandWork {
  /** Uses that go on. */
  busy = 0;
  /** Definitions of this node's code beside those of all nodes. */
  readonly definitions: readonly SemaphoreDefinition[];
  /** Two for each name, kept as by an application: one may be idle while the other is in use. */
  readonly #semaphores = new Map<string, readonly Semaphore[]>();
  #calls = 0;
  #cancelTimer?: CancelTimer;

  constructor(
    private readonly node: SimNode,
    private readonly world: World,
    private readonly chance: Chance,
  ) {
    const { tolerance, definition } = world;
    const half = parseDefinition({ name: DEFINED_BY_SOME, permits: 1, duration: definition.duration }, tolerance);
    this.definitions = chance.happens(0.5) ? [half] : [];
  }

  start(): void {
    const { chance, node, world } = this;
    const next = () => {
      node.watch('work on demand', this.#act());
      this.start();
    };
    this.#cancelTimer = node.process.schedule(next, chance.skewed(...world.measures.pauses));
  }

  /** Starts nothing new; uses that go on end by themselves. */
  stop(): void {
    this.#cancelTimer?.();
  }

  /** S5: every name can be had again. @throws GatekeeperError when it can't within `timeout` (ms) */
  async probe(timeout: number): Promise<void> {
    for (const name of ON_DEMAND) {
      const { duration } = this.world.definition;
      const permit = await this.node.gatekeeper.acquire(name, { holder: 'probe', timeout, duration });
      await permit.release();
    }
  }

  async #act(): Promise<void> {
    const action = this.chance.weighted(ACTIONS);
    this.busy++;
    try {
      await this[action](this.chance.pick([...ON_DEMAND, DEFINED_BY_SOME]));
    } catch (error) {
      if (!(error instanceof GatekeeperError)) throw error;
      this.world.trace.note(this.node.name, () => `${action} on demand: ${error.message}`);
    } finally {
      this.busy--;
    }
  }

  async hold(name: string): Promise<void> {
    const permit = await this.#semaphore(name).tryAcquire(this.#options());
    if (permit) await this.#use(permit);
  }

  async wait(name: string): Promise<void> {
    const timeout = this.chance.whole(0, this.world.measures.patience);
    await this.#use(await this.#semaphore(name).acquire({ ...this.#options(), timeout }));
  }

  async run(name: string): Promise<void> {
    const atLeastFor = this.chance.happens(0.6) ? 0 : undefined;
    await this.#semaphore(name).run((permit) => this.#work(permit), { ...this.#options(), atLeastFor });
  }

  #semaphore(name: string): Semaphore {
    const { gatekeeper } = this.node;
    const two = this.#semaphores.get(name) ?? [gatekeeper.semaphore(name), gatekeeper.semaphore(name)];
    this.#semaphores.set(name, two);
    return two[this.#calls++ % 2]!;
  }

  #options(): { duration: number; keepAlive: boolean; holder?: string } {
    const { chance, world } = this;
    const holder = chance.happens(0.3) ? { holder: chance.pick(['h1', 'h2']) } : {};
    const duration = chance.happens(TOO_LONG) ? 2 * LONGEST_ON_DEMAND : anyDuration(world, chance);
    return { duration, keepAlive: chance.happens(0.4), ...holder };
  }

  async #use(permit: Permit): Promise<void> {
    await this.#work(permit);
    if (this.chance.happens(0.1)) return this.node.forget(permit);
    await permit.release();
  }

  async #work(permit: RunPermit): Promise<void> {
    const { chance, node, world } = this;
    if (chance.happens(0.6)) void permit.signal;
    await node.pause(chance.skewed(5, world.definition.duration));
  }
}
