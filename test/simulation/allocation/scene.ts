import { parseDefinition } from '../../../lib/core/decision/index.js';
import { type GatekeeperSettings, parseGatekeeperOptions } from '../../../lib/gatekeeper/index.js';
import type { StoreDefinition } from '../../../lib/core/store/index.js';
import { FAULT_MIXES } from '../kind/fault-mix.js';
import { LENGTHS } from '../kind/length.js';
import { type ClockFaults, SimProcess } from '../machines/sim-process.js';
import { StoreCluster } from '../store/store-cluster.js';
import { Chance } from '../world/chance.js';
import { Trace } from '../world/trace.js';
import { VirtualTime } from '../world/virtual-time.js';
import { SEMAPHORE } from '../world/world.js';
import { type Fault, GENTLE, faultsOf, mixOf } from './faults.js';
import { OwnerNode } from './owner-node.js';
import { OwnershipChecker } from './ownership-checker.js';

export const GROUP = 'queues';
/** The only group of a node that does not have {@link GROUP}. It has no resources. */
export const OTHER_GROUP = 'tenants';
/** True time in ms for which trouble lasts. */
export const TROUBLE = 20_000;

/** Stands where each node puts a store with faults of its own. */
const EACH_ITS_OWN: StoreDefinition = {
  kind: 'simulated',
  open: () => {
    throw new Error('a node of the simulation has to bring its own store');
  },
};

/** Checked once: a schedule changes only values that need no check. */
const SETTINGS = parseGatekeeperOptions({
  store: EACH_ITS_OWN,
  heartbeat: 0,
  history: false,
  membership: {},
  allocation: { groups: [{ name: GROUP, resources: () => [], id: (id: string) => id }] },
});

/** All that the parts of one schedule share. */
export class Scene {
  readonly chance: Chance;
  readonly time = new VirtualTime();
  readonly trace: Trace;
  readonly faults: ReadonlySet<Fault>;
  readonly checker: OwnershipChecker;
  readonly cluster: StoreCluster;
  readonly settings: GatekeeperSettings;
  readonly nodes: OwnerNode[] = [];
  readonly tolerance: number;
  readonly lease: number;
  readonly handoverTimeout: number;
  readonly settleDelay: number;
  /** Every resource that ever exists. */
  readonly all: readonly string[];
  /** Those that exist now. */
  resources: readonly string[];
  isTrouble = false;
  readonly #isWeighted: boolean;
  /** Decides which nodes have the group; absent: all of them. */
  readonly #absence: Chance | undefined;
  readonly #clocks = new Map<string, ClockFaults>();
  #processes = 0;

  constructor(seed: number, { isTraced = false, faults }: { isTraced?: boolean; faults?: readonly Fault[] } = {}) {
    const chance = new Chance(seed);
    this.chance = chance;
    this.trace = new Trace(this.time, isTraced);
    this.faults = faultsOf(chance, faults);
    const haveClocksJumped = this.has('memberClock', true) || this.has('allClocksBack', true);
    this.checker = new OwnershipChecker(this.time, this.trace, haveClocksJumped && this.has('lostData', true));
    this.tolerance = chance.pick([60, 200, 500]);
    this.lease = Math.round(this.tolerance * chance.skewed(4, 12)) + 1000;
    this.handoverTimeout = chance.whole(500, 4000);
    this.settleDelay = chance.pick([0, 500, 2000]);
    this.#isWeighted = chance.happens(0.25);
    const absence = chance.beside();
    this.#absence = absence.happens(0.3) ? absence : undefined;
    this.all = Array.from({ length: chance.whole(10, 20) }, (_, index) => `resource-${index + 10}`);
    this.resources = this.all;
    this.cluster = this.#createCluster(chance);
    this.settings = this.#createSettings(chance);
  }

  /** Whether there is such trouble now. @param atAnyTime or at any time of this schedule */
  has(fault: Fault, atAnyTime = false): boolean {
    return (atAnyTime || this.isTrouble) && this.faults.has(fault);
  }

  /** Whether no lease can lapse. */
  get isGentle(): boolean {
    return [...this.faults].every((fault) => GENTLE.has(fault));
  }

  /** Processes that run, or may go on. */
  get living(): readonly OwnerNode[] {
    return this.nodes.filter(({ isCrashed }) => !isCrashed);
  }

  get staying(): readonly OwnerNode[] {
    return this.living.filter(({ isLeaving }) => !isLeaving);
  }

  /** Nodes that have the group. */
  get members(): readonly OwnerNode[] {
    return this.staying.filter(({ isMember }) => isMember);
  }

  /** ms: the longest time for which work of the application goes on after its signal aborted, and more. */
  get longestWork(): number {
    return 4000 + 2 * this.handoverTimeout;
  }

  /** Starts a process. A name stays on its machine. */
  start(name: string): OwnerNode {
    const { chance, time } = this;
    const clocks = this.#clocks.get(name) ?? anyClocks(chance);
    this.#clocks.set(name, clocks);
    const process = new SimProcess(time, clocks);
    const weight = this.#isWeighted ? chance.whole(1, 3) : 1;
    const isMember = this.#hasGroup();
    const instance = `${name}.${this.#processes++}`;
    const node = new OwnerNode({ name, instance, weight, isMember }, process, this, chance.fork());
    this.nodes.push(node);
    this.checker.add(node);
    node.start();
    return node;
  }

  /** Whether the next process has the group. The first one, which often leads, may lack it, too. */
  #hasGroup(): boolean {
    const mayLack = this.#processes === 0 || this.members.length > 0;
    return !(this.#absence?.happens(0.4) && mayLack);
  }

  /** The application's `resources` function. */
  readResources(process: SimProcess, chance: Chance): Promise<readonly string[]> {
    const isFailing = this.has('resources') && chance.happens(0.1);
    // Another set with each reading, mostly one that lacks more than half.
    const isOdd = this.has('oddSources') && chance.happens(0.4);
    const found = () => (isOdd ? this.resources.filter(() => chance.happens(0.3)) : this.resources);
    return new Promise((resolve, reject) => {
      const settle = () => (isFailing ? reject(new Error('simulated: no resources')) : resolve(found()));
      process.schedule(settle, chance.skewed(0.1, 50));
    });
  }

  beginTrouble(): void {
    this.isTrouble = true;
    this.cluster.faultMix = mixOf(this.faults, this.chance);
    this.trace.note('', () => `trouble begins: ${[...this.faults].join()}`);
  }

  endTrouble(): void {
    this.trace.note('', () => 'trouble ends');
    this.isTrouble = false;
    this.cluster.recover();
    this.cluster.merge();
    this.cluster.faultMix = FAULT_MIXES.none;
    for (const { process } of this.living) process.resume();
  }

  #createCluster(chance: Chance): StoreCluster {
    const { time, trace } = this;
    const measures = { ...LENGTHS.long(this.tolerance, chance.fork()), horizon: TROUBLE / 2 };
    const cluster = new StoreCluster(mixOf(this.faults, chance), measures, {
      time,
      trace,
      chance: chance.fork(),
      onWrite: () => undefined,
    });
    cluster.faultMix = FAULT_MIXES.none;
    const definition = parseDefinition({ name: SEMAPHORE, permits: 1, duration: this.lease }, this.tolerance);
    if (chance.happens(0.7)) cluster.putFirst(definition);
    return cluster;
  }

  #createSettings(chance: Chance): GatekeeperSettings {
    const { lease, tolerance, handoverTimeout, settleDelay } = this;
    const limits = [{}, {}, {}, { count: chance.whole(1, 3) }];
    const refreshInterval = chance.whole(1000, 4000);
    const group = { ...SETTINGS.allocation.groups[0]!, handoverTimeout, settleDelay, refreshInterval };
    const settings: GatekeeperSettings = {
      ...SETTINGS,
      clockTolerance: tolerance,
      callTimeout: chance.pick([500, 1000, 2000]),
      shutdownGrace: handoverTimeout,
      membership: { lease },
      allocation: { groups: [{ ...group, movement: chance.pick(limits) }] },
    };
    this.trace.note('', () => JSON.stringify({ faults: [...this.faults], ...settings }));
    return settings;
  }
}

/** Within what is assumed: rates are right to half a permille; the wall clock may be anything. */
function anyClocks(chance: Chance): ClockFaults {
  return {
    rate: 1 + chance.between(-5e-4, 5e-4),
    monotonic: chance.between(0, 1e9),
    wall: chance.happens(0.8) ? chance.between(-3000, 3000) : chance.between(-1e6, 1e6),
  };
}
