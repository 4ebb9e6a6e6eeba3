import { LONGEST_ON_DEMAND } from '../../lib/core/decision/index.js';
import type { Machines } from './machines/machines.js';
import type { SimNode } from './machines/node.js';
import { ON_DEMAND } from './machines/on-demand-work.js';
import { FAULT_MIXES } from './kind/fault-mix.js';
import { LONGEST_SWEEP, SOON, expectDone, setBackOf } from './expect-done.js';
import { probeLeader } from './leader-probe.js';
import { SEMAPHORE, type World } from './world/world.js';

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
  cluster.recover();
  merge(world);
  cluster.faultMix = { ...FAULT_MIXES.none, memberSpread: faultMix.memberSpread };
  await finishWork(world, machines);
  if (world.settings.membership) await meetAgain(world, machines);
  await world.deploys?.check(world, machines);
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
async function meetAgain({ time, settings, checker, callTimeout }: World, machines: Machines): Promise<void> {
  const names = machines.living.map(({ name }) => name).toSorted();
  const isRight = ({ participants }: SimNode) => participants.toSorted().join() === names.join();
  const within = 3 * settings.membership!.lease + 2 * callTimeout + SOON;
  if (await time.pass(within, () => machines.living.every(isRight))) return;
  for (const node of machines.living.filter((each) => !isRight(each))) {
    checker.violated(`M2 ${node.name} knows ${node.participants.join()} of ${names.join()}`);
  }
}

/** S5: everybody can have a permit within the time that the promises leave. */
async function probeAll(world: World, machines: Machines): Promise<void> {
  const { faultMix, measures, cluster } = world;
  const waitsOutGrace = !measures.isOld || world.chance.happens(WAITS_OUT_GRACE);
  const usual = 2 * measures.longest + setBackOf(faultMix) + SOON;
  const [first] = machines.living;
  await expectDone(world, first!, 'reopen', LONGEST_SWEEP + SOON, (node) => node.reopen());
  const waits = cluster.waitsForShard(SEMAPHORE);
  if (waits && !waitsOutGrace) return;
  for (const node of machines.living) {
    const patience = usual + (waits ? LONGEST_ON_DEMAND : 0);
    await expectDone(world, node, 'probe', 2 * (patience + SOON), () => node.probe(patience));
  }
  const mayHaveGrace = faultMix.dataLosses + faultMix.failovers > 0 || faultMix.strictStart;
  if (mayHaveGrace && !waitsOutGrace) return;
  const patience = usual + LONGEST_SWEEP + (mayHaveGrace ? LONGEST_ON_DEMAND : 0);
  for (const node of machines.living) {
    const within = ON_DEMAND.length * (patience + SOON);
    await expectDone(world, node, 'probe of names on demand', within, async () => node.onDemand?.probe(patience));
  }
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
