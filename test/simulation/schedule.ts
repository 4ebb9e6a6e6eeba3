import { parseGatekeeperOptions } from '../../lib/gatekeeper/index.js';
import { parseDefinition } from '../../lib/core/decision/index.js';
import type { StoreDefinition } from '../../lib/core/store/index.js';
import { aftermath, merge } from './aftermath.js';
import { Machines } from './machines/machines.js';
import { Deploys, HEARTBEAT } from './machines/deploys.js';
import { StoreCluster } from './store/store-cluster.js';
import { LENGTHS } from './kind/length.js';
import { type Kind, kindOf } from './kind/kind.js';
import { swarm } from './kind/swarm.js';
import { FAULT_MIXES } from './kind/fault-mix.js';
import { LEADER } from './machines/leadership-work.js';
import { Chance } from './world/chance.js';
import { Checker } from './world/checker.js';
import { Trace } from './world/trace.js';
import { VirtualTime } from './world/virtual-time.js';
import { SEMAPHORE, type World } from './world/world.js';

/** In how many schedules a program that is no node asks nodes for permits. */
const OUTSIDERS = 0.4;

/** Stands where each node puts a store with faults of its own. */
const EACH_ITS_OWN: StoreDefinition = {
  kind: 'simulated',
  open: () => {
    throw new Error('a node of the simulation has to bring its own store');
  },
};

/** Checked once: to check options takes a good part of a brief schedule. Each has some of its own. */
const SETTINGS = parseGatekeeperOptions({
  store: EACH_ITS_OWN,
  // Nothing is decided by them.
  heartbeat: 0,
  history: false,
});

/** Values that are not given follow from the seed. */
export interface ScheduleOptions extends Partial<Kind> {
  readonly isTraced?: boolean;
  /** Whether the nodes are participants, with leases as long as the permits. */
  readonly hasMembers?: boolean;
  /** Whether the faults are picked from the mixes in which the nodes also elect a leader. */
  readonly hasLeaders?: boolean;
}

export interface ScheduleResult extends Kind {
  readonly seed: number;
  readonly violations: readonly string[];
  readonly grants: number;
  /** How many terms of leadership began. */
  readonly terms: number;
  /** How many things happened. */
  readonly happenings: number;
  readonly trace: readonly string[];
}

/** Carries out one schedule. All of it follows from the seed and the options. */
export async function simulate(seed: number, options: ScheduleOptions = {}): Promise<ScheduleResult> {
  const kind = kindOf(seed, options, options.hasLeaders);
  const world = createWorld(seed, kind, options);
  const machines = new Machines(world);
  const rejected = (error: unknown) => world.checker.violated(`unhandled rejection: ${(error as Error).stack}`);
  process.on('unhandledRejection', rejected);
  const { stackTraceLimit } = Error;
  // Stores fail all the time here, and stack traces are only read in a trace.
  if (!options.isTraced) Error.stackTraceLimit = 0;
  try {
    // A separate stream: schedules without external clients stay as they were before external clients existed.
    await workUnderFaults(world, machines, new Chance(~seed));
    if (world.measures.hasAftermath) await aftermath(world, machines);
    // Node reports unhandled rejections only in a later turn of the event loop.
    await new Promise((resolve) => setImmediate(resolve));
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
    process.off('unhandledRejection', rejected);
  }
  const { checker, time, trace } = world;
  const { violations, grants, leaders } = checker;
  return { ...kind, seed, violations, grants, terms: leaders.count, happenings: time.count, trace: trace.lines };
}

function createWorld(seed: number, { faultMix: name, length }: Kind, options: ScheduleOptions): World {
  const { isTraced = false, hasMembers = false } = options;
  const chance = new Chance(seed);
  const time = new VirtualTime();
  const trace = new Trace(time, isTraced);
  const tolerance = chance.pick([60, 200, 500]);
  const checker = new Checker(time, trace, tolerance);
  const measures = LENGTHS[length](tolerance, chance.fork());
  const faultMix = measures.isSwarm ? swarm(FAULT_MIXES[name], chance.fork()) : FAULT_MIXES[name];
  const onWrite = (key: string, text: string, former: string | undefined) => {
    checker.written(key, text);
    deploys?.written(key, text, former);
  };
  const cluster = new StoreCluster(faultMix, measures, { time, trace, chance: chance.fork(), onWrite });
  const { duration } = measures;
  const definition = parseDefinition(
    { name: SEMAPHORE, permits: chance.pick([1, 1, 1, 2, 2, 3, 4]), duration },
    tolerance,
  );
  const callTimeout = chance.pick([500, 2000]);
  const deploys = faultMix.deploys ? new Deploys(definition, tolerance, new Chance(seed).beside()) : undefined;
  if (chance.happens(measures.isOld ? 0.8 : 0)) cluster.putFirst(definition);
  const settings = {
    ...SETTINGS,
    definitions: [definition],
    clockTolerance: tolerance,
    callTimeout,
    shutdownGrace: Math.ceil(measures.longest),
    strictStart: faultMix.strictStart,
    ...(deploys && { heartbeat: HEARTBEAT }),
    ...(hasMembers && { membership: { lease: duration } }),
  };
  const parts = { time, trace, checker, cluster, faultMix, measures, definition, deploys, settings };
  return { ...parts, tolerance, callTimeout, chance };
}

/** The nodes work while everything goes wrong that may. */
async function workUnderFaults(world: World, machines: Machines, outsiders: Chance): Promise<void> {
  const { chance, measures, time, trace } = world;
  trace.note('', () => JSON.stringify({ faultMix: world.faultMix, measures, definition: world.definition }));
  for (let node = 1; node <= measures.nodes; node++) {
    machines.boot(`n${node}`, measures.horizon, chance.between(0, measures.starts), chance.fork());
  }
  planForStore(world, machines);
  world.deploys?.plan(world, machines);
  // A program's request would meet a store that its node has closed: a server ends its requests first.
  if (!world.deploys && outsiders.happens(OUTSIDERS)) machines.invite('o1', outsiders);
  for (let passed = 0; passed < measures.horizon; passed += 500) {
    await time.pass(500);
    world.checker.look();
  }
}

function planForStore(world: World, machines: Machines): void {
  const { chance, faultMix, measures, time, cluster } = world;
  const { horizon } = measures;
  if (chance.happens(faultMix.rollbacks)) planRollback(world);
  for (let losses = 0; losses < faultMix.dataLosses; losses++) {
    time.after(chance.between(horizon / 8, horizon), () => loseData(world, machines));
  }
  for (let failovers = 0; failovers < faultMix.failovers; failovers++) {
    time.after(chance.between(horizon / 8, horizon), () => planFailover(world));
  }
  if (faultMix.clockJumps.length > 0) {
    const by = chance.pick(faultMix.clockJumps);
    const isOneMember = chance.happens(faultMix.loneJumps);
    time.after(chance.between(horizon / 8, horizon), () => cluster.jumpClock(by, isOneMember));
  }
  if (chance.happens(faultMix.splits)) {
    time.after(chance.between(horizon / 8, horizon), () => {
      if (!faultMix.quorum) world.checker.splitUp();
      cluster.splitUp();
      time.after(chance.skewed(100, horizon), () => merge(world));
    });
  }
  if (!chance.happens(faultMix.outages)) return;
  time.after(chance.between(0, horizon), () => {
    cluster.goDown();
    time.after(chance.skewed(100, (3 / 8) * horizon), () => cluster.comeBack());
  });
}

/** Restores an old copy of all data, as from a backup. */
function planRollback({ chance, measures, time, cluster }: World): void {
  const taken = chance.between(0, measures.horizon / 2);
  time.after(taken, () => {
    const restore = cluster.backUp();
    time.after(chance.between(0, measures.horizon - taken), restore);
  });
}

/**
 * A replica that no longer follows its primary takes over after a while. Nodes wait for the grace of the shards if the
 * failover comes before their definitions are in force: 15 minutes, in which no node would lead.
 */
function planFailover(world: World): void {
  const { chance, faultMix, measures, time, cluster } = world;
  if (faultMix.leadership && !cluster.isDefined(LEADER)) {
    if (time.now < measures.horizon) time.after(measures.duration / 4, () => planFailover(world));
  } else time.after(chance.skewed(1, measures.horizon / 8), cluster.replicate());
}

/**
 * A node that has not read the shards takes a store without data for a new cluster: known, and left out unless new nodes
 * come anyway. A node that has read them, and never saw the record of the semaphore, must not be misled by the loss.
 */
function loseData(world: World, machines: Machines): void {
  const { faultMix, measures, time, cluster } = world;
  const isKnown = machines.living.length === measures.nodes && machines.living.every((node) => node.hasHistory);
  if (isKnown || faultMix.crashes > 0) cluster.becomeFragile();
  else if (time.now < measures.horizon) time.after(measures.duration / 4, () => loseData(world, machines));
}
