import { Gatekeeper, type GatekeeperEvent, type Permit, partsOf } from '../../../lib/gatekeeper/index.js';
import { GatekeeperError, type SemaphoreDefinition, type StoredPermit } from '../../../lib/core/decision/index.js';
import { HeldPermit } from '../../../lib/core/permits/held-permit.js';
import type { Lease } from '../../../lib/core/permits/lease.js';
import type { NodeSemaphore } from '../../../lib/core/permits/node-semaphore.js';
import type { Chance } from '../world/chance.js';
import { FaultyStore } from '../store/faulty-store.js';
import type { SimProcess } from './sim-process.js';
import { LeadershipWork } from './leadership-work.js';
import { OnDemandWork } from './on-demand-work.js';
import { Workload } from './workload.js';
import { SEMAPHORE, SHARDS, type World } from '../world/world.js';

const OPEN = { groupPattern: '.*', acquirerPattern: '.*' };

function matches(definition: typeof OPEN, other: typeof OPEN): boolean {
  return definition.groupPattern === other.groupPattern && definition.acquirerPattern === other.acquirerPattern;
}

/** One process of the application: the production code, unchanged, in a simulated environment. */
export class SimNode {
  readonly gatekeeper: Gatekeeper;
  /** ms of true time. */
  readonly startedAt: number;
  /** The definition in its code, if deploys change it. */
  readonly code?: SemaphoreDefinition | undefined;
  readonly workload: Workload;
  readonly onDemand?: OnDemandWork;
  readonly leadership?: LeadershipWork;

  constructor(
    readonly name: string,
    readonly process: SimProcess,
    private readonly world: World,
    private readonly chance: Chance,
  ) {
    // A stream of its own: other schedules go as they went before there were names on demand.
    if (world.faultMix.onDemand) this.onDemand = new OnDemandWork(this, world, chance.beside());
    if (world.faultMix.leadership) this.leadership = new LeadershipWork(this, world, chance.beside());
    this.startedAt = world.time.now;
    this.code = world.deploys?.code;
    this.gatekeeper = this.#createGatekeeper();
    this.workload = new Workload(this, world, chance.fork());
    world.checker.members.add(this);
    this.gatekeeper.events$.subscribe((event) => {
      world.trace.note(name, () => describe(event));
      if (event.type === 'member-crashed' || event.type === 'member-left') {
        world.checker.members.judged(name, event.member.id, event.incarnation);
      }
      // External clients report their grants themselves: see Outsider.
      if (event.type === 'granted' && event.permit.instance === name) this.#granted(event.semaphore, event.permit.id);
      this.leadership?.observe(event);
    });
  }

  /** Id of the membership lease that it counts on. */
  get incarnation(): string | undefined {
    return this.gatekeeper.membership.incarnation;
  }

  start(): void {
    this.world.trace.note(this.name, () => 'starts');
    this.watch('start', this.gatekeeper.start());
    this.workload.start();
    this.onDemand?.start();
    this.leadership?.start();
  }

  /** Calls may fail under faults, but only in the ways that are documented. */
  watch(what: string, promise: Promise<unknown>): void {
    promise.catch((error) => this.world.checker.violated(`${this.name} ${what} failed: ${(error as Error).stack}`));
  }

  /** Waits in the process's own time. */
  pause(delay: number): Promise<void> {
    return new Promise((resolve) => this.process.schedule(resolve, delay));
  }

  /** Lets every node have a permit again after the faults. It may take a few tries, because late writes may still arrive. */
  async reopen(): Promise<void> {
    const permits = Math.max(1, this.world.definition.permits);
    const open = { ...OPEN, permits };
    for (let isOpen = false; !isOpen; await this.pause(isOpen ? 1 : 500)) {
      const { definitions } = this.gatekeeper;
      // The node that paused it may have crashed.
      const opening = definitions.edit(SEMAPHORE, open).then(() => definitions.resume(SEMAPHORE));
      isOpen = await opening.then(() => true, isDocumented);
    }
  }

  /**
   * S5: whatever happened, a permit is granted again. A definition that came back with lost data may have undone the
   * edit that let all nodes in, since it counts more revisions: then the operator looks, and edits again.
   */
  async probe(patience: number): Promise<void> {
    try {
      await this.#acquireOnce(patience);
    } catch (error) {
      const { definition } = (await this.gatekeeper.definitions.get(SEMAPHORE)) ?? {};
      if (definition?.permits && matches(definition, OPEN)) throw error;
      await this.reopen();
      await this.#acquireOnce(patience);
    }
  }

  async #acquireOnce(timeout: number): Promise<void> {
    const permit = await this.gatekeeper.acquire(SEMAPHORE, { holder: 'probe', timeout });
    await permit.release();
  }

  /** Names of the nodes that it believes to live. */
  get participants(): string[] {
    return this.gatekeeper.membership.participants().map(({ id }) => id);
  }

  /** Whether this node sees signs of wrong clocks. */
  get isClockSuspect(): boolean {
    return !partsOf(this.gatekeeper).context.clusterClock.mayJudge(this.world.definition.duration);
  }

  /** Whether this node has read an open root and all shards. Without that it takes an empty store for a new cluster. */
  get hasHistory(): boolean {
    return partsOf(this.gatekeeper).directory.birth.hasHistory;
  }

  /** Whether work of the application goes on. */
  get isBusy(): boolean {
    return [this.workload, this.onDemand, this.leadership].some((work) => work && work.busy > 0);
  }

  /** Starts nothing new; what goes on ends by itself. */
  stopWork(): void {
    this.workload.stop();
    this.onDemand?.stop();
    this.leadership?.stop();
  }

  /** Leases of this process on a semaphore. */
  leases(semaphore: string): readonly Lease[] {
    return this.#semaphore(semaphore).heldLeases.leases;
  }

  /** Never releases: a use that no caller ends must not keep the permit beyond its duration. */
  forget(permit: Permit): void {
    if (!(permit instanceof HeldPermit)) throw new Error('a node gives permits of its leases only');
    this.watch('forget', this.#semaphore(permit.semaphore).heldLeases.holdUntilExpiry(permit).catch(isDocumented));
  }

  #semaphore(name: string): NodeSemaphore {
    return partsOf(this.gatekeeper).directory.of(name);
  }

  #granted(semaphore: string, permitId: string): void {
    const lease = this.leases(semaphore).find(({ permit }) => permit.id === permitId);
    if (lease) this.world.checker.granted(semaphore, this.name, this.process, lease);
    else this.world.checker.violated(`${this.name} says granted ${permitId} but has no such lease`);
  }

  #createGatekeeper(): Gatekeeper {
    const { world, name, process, chance } = this;
    const { time, trace, cluster } = world;
    const client = chance.fork();
    const store = {
      kind: 'simulated',
      open: () => new FaultyStore(cluster, { name, time, process, chance: client, trace }),
    };
    const settings = {
      ...world.settings,
      ...this.leadership?.settings,
      store,
      group: chance.pick(['a', 'b']),
      acquirer: name,
      definitions: [...(this.code ? [this.code] : world.settings.definitions), ...(this.onDemand?.definitions ?? [])],
      definitionsDelay: chance.whole(100, Math.max(100, world.measures.starts)),
      sweepInterval: chance.whole(3000, 10_000),
    };
    let ids = 0;
    const random = { number: chance.fork().number, id: () => `${name}.${ids++}`, instance: () => name };
    return new Gatekeeper(settings, silent, { nodeClock: process, random, shards: SHARDS });
  }
}

/** Whether a call failed as the documentation says that it may; throws any other error. */
function isDocumented(error: unknown): false {
  if (error instanceof GatekeeperError) return false;
  throw error;
}

const silent = { log() {}, warn() {}, error() {}, debug() {} };

/** Any event, with the parts that the trace formats in a special way. */
type EventParts = { type: string; semaphore?: string; permit?: StoredPermit; error?: unknown };

function describe(event: GatekeeperEvent): string {
  const { type, permit, semaphore: _semaphore, error, ...rest } = event as EventParts;
  const which = permit ? ` ${permit.id} slot ${permit.slot} token ${permit.token}` : '';
  return `* ${type}${which} ${JSON.stringify(rest)}${error ? ` ${(error as Error).message}` : ''}`;
}
