import type { CancelTimer } from '../../../lib/async/node-clock.js';
import { GatekeeperError, LEADER_PREFIX } from '../../../lib/decision/index.js';
import type { GatekeeperSettings } from '../../../lib/gatekeeper/index.js';
import type { Chance } from '../world/chance.js';
import type { World } from '../world/world.js';
import type { SimNode } from './node.js';

const SCOPE = 'sim';
/** The semaphore of the only scope. */
export const LEADER = LEADER_PREFIX + SCOPE;

const ACTIONS = { run: 20, resign: 3, transfer: 4, pause: 1, resume: 3 };

/** Work of a leader, and changes of the leader, by chance. */
export class LeadershipWork {
  /** Uses that go on. */
  busy = 0;
  #cancelTimer?: CancelTimer;

  constructor(
    private readonly node: SimNode,
    private readonly world: World,
    private readonly chance: Chance,
  ) {}

  get settings(): Pick<GatekeeperSettings, 'leadership' | 'shutdownGrace'> {
    const { duration: lease } = this.world.definition;
    return { leadership: { enabled: true, scopes: [SCOPE], lease }, shutdownGrace: Math.ceil(lease) };
  }

  get isLeader(): boolean {
    return this.#scope.isLeader;
  }

  start(): void {
    this.node.watch('initialize', this.node.gatekeeper.cluster.initialize());
    this.#plan();
  }

  /** Starts nothing new; uses that go on end by themselves. */
  stop(): void {
    this.#cancelTimer?.();
  }

  /** Ends a pause; it may take a few tries. */
  async resume(): Promise<void> {
    const { definitions } = this.node.gatekeeper;
    for (let isDone = false; !isDone; await this.node.pause(isDone ? 1 : 500)) {
      const resuming = definitions.resume(LEADER);
      isDone = await resuming.then(() => true, expectDocumented);
    }
  }

  get #scope() {
    return this.node.gatekeeper.cluster.scope(SCOPE);
  }

  #plan(): void {
    const { chance, node, world } = this;
    const next = () => {
      node.watch('work of a leader', this.#act());
      this.#plan();
    };
    this.#cancelTimer = node.process.schedule(next, chance.skewed(...world.measures.pauses));
  }

  async #act(): Promise<void> {
    const action = this.chance.weighted(ACTIONS);
    this.busy++;
    try {
      await this.#do(action);
    } catch (error) {
      expectDocumented(error);
      this.world.trace.note(this.node.name, () => `${action} of a leader: ${(error as Error).message}`);
    } finally {
      this.busy--;
    }
  }

  async #do(action: keyof typeof ACTIONS): Promise<void> {
    const { cluster, definitions } = this.node.gatekeeper;
    switch (action) {
      case 'run':
        return void (await this.#scope.run('job', () => this.node.pause(this.chance.skewed(5, this.#longest))));
      case 'resign':
        return void (await this.#scope.resign());
      case 'transfer':
        return cluster.transferTo(this.chance.pick(cluster.status().participants));
      case 'pause':
        return void (await definitions.pause(LEADER));
      case 'resume':
        return void (await definitions.resume(LEADER));
    }
  }

  /** ms: some work outlasts the grace at the end of a term. */
  get #longest(): number {
    return 1.5 * this.world.definition.duration;
  }
}

/** A call may fail as the documentation says; throws any other error. */
function expectDocumented(error: unknown): false {
  if (error instanceof GatekeeperError) return false;
  throw error;
}
