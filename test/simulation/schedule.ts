import { parseDefinition } from '../../lib/semaphores/index.js';
import { Chance } from './world/chance.js';
import { Checker } from './world/checker.js';
import { Machines } from './machines/machines.js';
import type { SimNode } from './machines/node.js';
import { StoreCluster } from './store/store-cluster.js';
import { Trace } from './world/trace.js';
import { VirtualTime } from './world/virtual-time.js';
import { WEATHERS, type WeatherName } from './weather/weather.js';
import { type Bugs, LONGEST, SEMAPHORE, SHORTEST, type World } from './world/world.js';

export interface ScheduleOptions {
  readonly weather: WeatherName;
  readonly bugs?: Bugs;
  readonly isTraced?: boolean;
}

export interface ScheduleResult {
  readonly seed: number;
  readonly violations: readonly string[];
  readonly grants: number;
  /** How many things happened. */
  readonly happenings: number;
  readonly trace: readonly string[];
}

/** ms of true time in which things go wrong. */
const HORIZON = 40_000;

/** Carries out one schedule. All of it follows from the seed and the options. */
export async function simulate(seed: number, options: ScheduleOptions): Promise<ScheduleResult> {
  const world = createWorld(seed, options);
  const machines = new Machines(world);
  const rejected = (error: unknown) => world.checker.violated(`unhandled rejection: ${(error as Error).stack}`);
  process.on('unhandledRejection', rejected);
  try {
    await storm(world, machines);
    await aftermath(world, machines);
    await shutDown(world, machines);
  } finally {
    process.off('unhandledRejection', rejected);
  }
  const { checker, time, trace } = world;
  return { seed, violations: checker.violations, grants: checker.grants, happenings: time.count, trace: trace.lines };
}

function createWorld(seed: number, { weather: name, bugs = {}, isTraced = false }: ScheduleOptions): World {
  const chance = new Chance(seed);
  const time = new VirtualTime();
  const trace = new Trace(time, isTraced);
  const checker = new Checker(time, trace);
  const weather = WEATHERS[name];
  const onWrite = (text: string) => checker.written(text);
  const cluster = new StoreCluster(weather, { time, trace, chance: chance.fork(), bugs, onWrite });
  const tolerance = chance.pick([60, 200, 500]);
  const duration = Math.round(chance.skewed(SHORTEST * tolerance, 10_000));
  const definition = parseDefinition({ name: SEMAPHORE, permits: chance.whole(1, 2), duration }, tolerance);
  const callTimeout = chance.pick([500, 2000]);
  return { time, trace, checker, cluster, weather, bugs, definition, tolerance, callTimeout, chance };
}

/** The nodes work while everything goes wrong that may. */
async function storm(world: World, machines: Machines): Promise<void> {
  const { chance, weather, time } = world;
  const nodes = chance.whole(...weather.nodes);
  for (let node = 1; node <= nodes; node++) {
    machines.boot(`n${node}`, HORIZON, chance.between(0, 3000), chance.fork());
  }
  planForStore(world);
  for (let passed = 0; passed < HORIZON; passed += 500) {
    await time.pass(500);
    world.checker.checkTold();
  }
}

function planForStore({ chance, weather, time, cluster }: World): void {
  for (let losses = 0; losses < weather.dataLosses; losses++) {
    time.after(chance.between(5000, HORIZON), () => cluster.becomeFragile());
  }
  if (weather.clockJumps.length > 0) {
    const by = chance.pick(weather.clockJumps);
    time.after(chance.between(5000, HORIZON), () => cluster.jumpClock(by));
  }
  if (!chance.happens(weather.outages)) return;
  time.after(chance.between(0, HORIZON), () => {
    cluster.goDown();
    time.after(chance.skewed(100, 15_000), () => cluster.comeBack());
  });
}

/** S5: when everything works again, everybody can have a permit within the time that the promises leave. */
async function aftermath(world: World, machines: Machines): Promise<void> {
  const { time, checker, cluster, weather, trace } = world;
  trace.note('', () => 'the weather clears up');
  cluster.weather = { ...WEATHERS.calm, memberSpread: weather.memberSpread };
  await time.pass(20_000);
  for (const node of machines.living) {
    node.process.resume();
    node.workload.stop();
  }
  const isIdle = () => machines.living.every((node) => node.workload.busy === 0);
  if (!(await time.pass(20 * LONGEST, isIdle))) checker.violated('S5 work did not come to its end');
  checker.checkTold();
  const setBack = Math.max(0, ...weather.clockJumps.map((jump) => -jump));
  const patience = 2 * LONGEST + setBack + 5000;
  const [first] = machines.living;
  await expectDone(world, first!, 'reopen', 5000, (node) => node.reopen());
  for (const node of machines.living) {
    await expectDone(world, node, 'probe', patience + 5000, () => node.probe(patience));
  }
}

/** Nothing is left: no permit, no timer, no call. */
async function shutDown(world: World, machines: Machines): Promise<void> {
  for (const node of machines.living) {
    await expectDone(world, node, 'close', 2 * LONGEST, () => node.gatekeeper.close());
  }
  // The deadline of a call that is never answered may still run, a listing's for five times as long as others.
  await world.time.pass(5 * world.callTimeout + 100);
  for (const { name, process } of machines.living) {
    if (process.timers > 0) world.checker.violated(`${name} left ${process.timers} timers after close()`);
  }
}

async function expectDone(
  { time, checker, trace }: World,
  node: SimNode,
  what: string,
  within: number,
  work: (node: SimNode) => Promise<unknown>,
): Promise<void> {
  let isDone = false;
  trace.note(node.name, () => what);
  work(node)
    .catch((error: Error) => checker.violated(`S5 ${node.name} ${what}: ${error.stack}`))
    .finally(() => (isDone = true));
  if (!(await time.pass(within, () => isDone))) checker.violated(`S5 ${node.name} ${what}: not within ${within} ms`);
}
