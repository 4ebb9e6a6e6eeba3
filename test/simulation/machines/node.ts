import { Gatekeeper, type Permit, parseGatekeeperOptions } from '../../../lib/gatekeeper/index.js';
import type { Chance } from '../world/chance.js';
import { FaultyStore } from '../store/faulty-store.js';
import type { SimProcess } from './sim-process.js';
import { Workload } from './workload.js';
import { LONGEST, SEMAPHORE, type World } from '../world/world.js';

/** One process of the application: the production code, unchanged, in simulated surroundings. */
export class SimNode {
  readonly gatekeeper: Gatekeeper;
  readonly workload: Workload;

  constructor(
    readonly name: string,
    readonly process: SimProcess,
    private readonly world: World,
    private readonly chance: Chance,
  ) {
    this.gatekeeper = this.#createGatekeeper();
    this.workload = new Workload(this, world, chance.fork());
    this.gatekeeper.events$.subscribe((event) => {
      world.trace.note(name, () => describe(event));
      if (event.type === 'granted') this.#granted(event.permit.id);
    });
  }

  start(): void {
    this.world.trace.note(this.name, () => 'starts');
    this.watch('start', this.gatekeeper.start());
    this.workload.start();
  }

  /** Anything may fail in bad weather, but only in the ways that are documented. */
  watch(what: string, promise: Promise<unknown>): void {
    promise.catch((error) => this.world.checker.violated(`${this.name} ${what} failed: ${(error as Error).stack}`));
  }

  /** Waits in the process's own time. */
  pause(delay: number): Promise<void> {
    return new Promise((resolve) => this.process.schedule(resolve, delay));
  }

  /** After the storm: anyone may have a permit again. */
  async reopen(): Promise<void> {
    const { definitions } = this.gatekeeper;
    const permits = Math.max(1, this.world.definition.permits);
    await definitions.edit(SEMAPHORE, { groupPattern: '.*', acquirerPattern: '.*', permits });
  }

  /** S5: whatever happened, a permit can be had again. */
  async probe(patience: number): Promise<void> {
    const permit = await this.gatekeeper.acquire(SEMAPHORE, { holder: 'probe', timeout: patience });
    await permit.release();
  }

  lease(permitId: string) {
    return this.gatekeeper.semaphore(SEMAPHORE).holdings.leases.find((lease) => lease.permit.id === permitId);
  }

  #granted(permitId: string): void {
    const lease = this.lease(permitId);
    if (lease) this.world.checker.granted(this.name, this.process, lease);
    else this.world.checker.violated(`${this.name} says granted ${permitId} but has no such lease`);
  }

  #createGatekeeper(): Gatekeeper {
    const { world, name, process, chance } = this;
    const { time, trace, cluster, callTimeout, weather, definition } = world;
    const client = chance.fork();
    const store = {
      kind: 'simulated',
      open: () => new FaultyStore(cluster, { name, time, process, chance: client, trace }),
    };
    const settings = parseGatekeeperOptions({
      store,
      group: chance.pick(['a', 'b']),
      acquirer: name,
      definitions: [definition],
      definitionsDelay: chance.whole(100, 3000),
      clockTolerance: world.tolerance,
      callTimeout,
      sweepInterval: chance.whole(3000, 10_000),
      shutdownGrace: LONGEST,
      strictStart: weather.strictStart,
    });
    let ids = 0;
    const random = { number: chance.fork().number, id: () => `${name}.${ids++}`, instance: () => name };
    return new Gatekeeper(settings, silent, { nodeClock: process, random });
  }
}

const silent = { log() {}, warn() {}, error() {}, debug() {} };

function describe(event: { type: string; permit?: Partial<Permit>; [other: string]: unknown }): string {
  const { type, permit, semaphore: _semaphore, error, ...rest } = event;
  const which = permit ? ` ${permit.id} slot ${permit.slot} token ${permit.token}` : '';
  return `* ${type}${which} ${JSON.stringify(rest)}${error ? ` ${(error as Error).message}` : ''}`;
}
