import { LONGEST_ON_DEMAND } from '../../lib/decision/index.js';
import type { Machines } from './machines/machines.js';
import type { SimNode } from './machines/node.js';
import { LEADER } from './machines/leadership-work.js';
import { ON_DEMAND } from './machines/on-demand-work.js';
import { FAULT_MIXES } from './kind/fault-mix.js';
import { SEMAPHORE, type World } from './world/world.js';

/** ms within which a call that meets no fault is done. */
const SOON = 5000;
/** ms until each node has looked for what the store lacks. */
const LONGEST_SWEEP = 11_000;

/**
 * In how many schedules of an old cluster a node waits until the grace of names on demand has passed: a quarter of an
 * hour, twenty times as long as all the rest, in which nothing happens that promises depend on. In a new cluster with
 * `strictStart` nothing is granted before.
 */
const WAITS_OUT_GRACE = 0.1;

/** Checks that all nodes get permits when everything works again, and that nothing is left open at the end. */
export async function aftermath(world: World, machines: Machines): Promise<void> {
  const { faultMix, cluster, trace } = world;
  trace.note('', () => 'the faults end');
  cluster.comeBack();
  merge(world);
  cluster.faultMix = { ...FAULT_MIXES.none, memberSpread: faultMix.memberSpread };
  await finishWork(world, machines);
  if (world.settings.membership) await meetAgain(world, machines);
  await probeAll(world, machines);
  if (faultMix.leadership) await probeLeader(world, machines);
  await shutDown(world, machines);
}

/** The sides of a store that split meet again, if they have not yet. */
export function merge({ cluster, checker, measures, tolerance }: World): void {
  cluster.merge();
  checker.merged(measures.longest + 2 * tolerance);
}

async function finishWork({ time, measures, checker, callTimeout }: World, machines: Machines): Promise<void> {
  await time.pass(measures.faultFree);
  // Dead nodes come back soon.
  await time.pass(measures.horizon, () => machines.living.length === measures.nodes);
  for (const node of machines.living) node.process.resume();
  machines.stop();
  // A listing may take five times as long as another call.
  const within = 20 * measures.longest + 5 * callTimeout;
  if (!(await time.pass(within, () => machines.areIdle))) checker.violated('S5 work did not come to its end');
  checker.checkEndsHeard();
}

/** M2: all nodes know exactly the living ones again. */
async function meetAgain({ time, settings, faultMix, checker, callTimeout }: World, machines: Machines): Promise<void> {
  const names = machines.living.map(({ name }) => name).toSorted();
  const known = ({ gatekeeper }: SimNode) => gatekeeper.membership.participants().map(({ id }) => id);
  const isRight = (node: SimNode) => known(node).toSorted().join() === names.join();
  const setBack = Math.max(0, ...faultMix.clockJumps.map((jump) => -jump));
  const within = 3 * settings.membership!.lease + setBack + 2 * callTimeout + SOON;
  if (await time.pass(within, () => machines.living.every(isRight))) return;
  for (const node of machines.living.filter((each) => !isRight(each))) {
    checker.violated(`M2 ${node.name} knows ${known(node).join()} of ${names.join()}`);
  }
}

/** S5: everybody can have a permit within the time that the promises leave. */
async function probeAll(world: World, machines: Machines): Promise<void> {
  const { faultMix, measures, cluster } = world;
  const waitsOutGrace = !measures.isOld || world.chance.happens(WAITS_OUT_GRACE);
  const setBack = Math.max(0, ...faultMix.clockJumps.map((jump) => -jump));
  const usual = 2 * measures.longest + setBack + SOON;
  const [first] = machines.living;
  await expectDone(world, first!, 'reopen', LONGEST_SWEEP + SOON, (node) => node.reopen());
  const waits = cluster.waitsForShard(SEMAPHORE);
  if (waits && !waitsOutGrace) return;
  for (const node of machines.living) {
    const patience = usual + (waits ? LONGEST_ON_DEMAND : 0);
    await expectDone(world, node, 'probe', 2 * (patience + SOON), () => node.probe(patience));
  }
  const mayHaveGrace = faultMix.dataLosses > 0 || faultMix.strictStart;
  if (mayHaveGrace && !waitsOutGrace) return;
  const patience = usual + LONGEST_SWEEP + (mayHaveGrace ? LONGEST_ON_DEMAND : 0);
  for (const node of machines.living) {
    const within = ON_DEMAND.length * (patience + SOON);
    await expectDone(world, node, 'probe of names on demand', within, async () => node.onDemand?.probe(patience));
  }
}

/** S5: a scope has a leader again, once it is not paused any more. */
async function probeLeader(world: World, machines: Machines): Promise<void> {
  const { time, cluster, checker, measures } = world;
  if (cluster.waitsForShard(LEADER)) return;
  const [first] = machines.living;
  await expectDone(world, first!, 'resume of the scope', LONGEST_SWEEP + SOON, (node) => node.leadership!.resume());
  const within = 3 * measures.longest + LONGEST_SWEEP + 3 * SOON;
  const isLed = () => machines.living.some(({ leadership }) => leadership!.isLeader);
  if (!(await time.pass(within, isLed))) checker.violated(`S5 no leader within ${within} ms`);
  checker.checkLeaders();
}

/** Nothing is left: no permit, no timer, no call. */
async function shutDown(world: World, machines: Machines): Promise<void> {
  // Entries of a journal may still be on their way when the last ones are sent.
  const within = 2 * world.measures.longest + 2 * world.callTimeout;
  for (const node of machines.living) {
    await expectDone(world, node, 'close', within, () => node.gatekeeper.close());
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
