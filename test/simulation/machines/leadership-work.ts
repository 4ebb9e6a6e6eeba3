import type { CancelTimer } from '../../../lib/core/async/node-clock.js';
import { GatekeeperError, LEADER_PREFIX } from '../../../lib/core/decision/index.js';
import type { GatekeeperEvent, GatekeeperSettings } from '../../../lib/gatekeeper/index.js';
import type { Term } from '../../../lib/leadership/index.js';
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
  #isStopped = false;
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
    this.node.watch(
      'lead',
      this.#scope.lead((term) => this.#lead(term)),
    );
    this.#scope.on('lost', (term) => this.#isStopped || this.#workUnder(term, this.chance.skewed(5, this.#longest)));
    this.#plan();
  }

  /** Tells the checker of this node's terms. */
  observe(event: GatekeeperEvent): void {
    const { leaders } = this.world.checker;
    if (event.type === 'leadership-gained') this.#began(event.token);
    else if (event.type === 'leadership-lost') leaders.ended(this.node.name);
    else if (event.type === 'released' && event.semaphore === LEADER)
      leaders.givenBack(this.node.name, event.permit.id);
  }

  /** Starts nothing new; uses that go on end by themselves, and from then on with their term. */
  stop(): void {
    this.#isStopped = true;
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

  /** Makes another node the leader, if this one leads. */
  async resign(): Promise<void> {
    await this.#scope.resign();
  }

  #began(token: number): void {
    const { node, world } = this;
    const lease = node.leases(LEADER).find(({ permit }) => permit.token === token);
    if (!lease) return world.checker.violated(`${node.name} began a term with token ${token} but has no such lease`);
    const { name, process } = node;
    const remaining = () => lease.remaining;
    const claims = () => this.isLeader;
    world.checker.leaders.began({ node: name, process, token, permitId: lease.permit.id, remaining, claims });
  }

  /** Some work ends by itself, the other goes on for a while after the end of the term. */
  async #lead(term: Term): Promise<void> {
    const { chance, world } = this;
    const end = world.checker.leaders.worksUnder(term.stored.id);
    if (chance.happens(0.5)) await abortOf(term.signal);
    if (!this.#isStopped) await this.node.pause(chance.skewed(5, this.#longest));
    end();
  }

  async #workUnder(term: Term, ms: number): Promise<void> {
    const end = this.world.checker.leaders.worksUnder(term.stored.id);
    await this.node.pause(ms);
    end();
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
        return this.#run();
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

  async #run(): Promise<void> {
    const { term } = this.#scope;
    await this.#scope.run('job', () => this.#workUnder(term!, this.chance.skewed(5, this.#longest)));
  }

  /** ms: some work outlasts the grace at the end of a term. */
  get #longest(): number {
    return 1.5 * this.world.definition.duration;
  }
}

function abortOf(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

/** A call may fail as the documentation says; throws any other error. */
function expectDocumented(error: unknown): false {
  if (error instanceof GatekeeperError) return false;
  throw error;
}
