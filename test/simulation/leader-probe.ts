import { COOLDOWN } from '../../lib/leadership/cooldown.js';
import { LONGEST_SWEEP, SOON, expectDone, setBackOf } from './expect-done.js';
import { LEADER } from './machines/leadership-work.js';
import type { Machines } from './machines/machines.js';
import type { SimNode } from './machines/node.js';
import type { World } from './world/world.js';

/**
 * ms after two leases and `clockTolerance` within which a node leads when the faults end: stuck work may let a term
 * expire, lost data have a grace, and then the nodes that gave their terms up rest.
 */
const FIRST_LEADER = COOLDOWN + SOON;
/** ms after lease and `clockTolerance` within which another node leads after a crash, and after a handover. */
const BOUND = 1000;

/**
 * S5: after the faults a scope has a leader. It has another one soon after the leader resigned, and within lease,
 * `clockTolerance` and a second after the leader crashed. By then the others also know that it crashed.
 */
export async function probeLeader(world: World, machines: Machines): Promise<void> {
  const { cluster, definition, time, tolerance, faultMix } = world;
  if (cluster.waitsForShard(LEADER)) return;
  await expectDone(world, machines.living[0]!, 'resume of the scope', LONGEST_SWEEP + SOON, ({ leadership }) =>
    leadership!.resume(),
  );
  const within = 2 * (definition.duration + tolerance) + setBackOf(faultMix) + FIRST_LEADER;
  if (!(await expectLed(world, machines, 'after the faults', within))) return;
  // The work of former terms has ended, and no node lets others go first.
  await time.pass(2 * definition.duration + COOLDOWN + BOUND);
  const resigning = leaderOf(machines);
  if (!resigning) return world.checker.violated('S5 the leader did not go on');
  void resigning.leadership!.resign();
  await expectLed(world, machines, 'after a resignation', BOUND, resigning);
  await time.pass(COOLDOWN + BOUND);
  await probeCrash(world, machines);
}

async function probeCrash(world: World, machines: Machines): Promise<void> {
  const { trace, tolerance, definition, checker, faultMix } = world;
  const crashing = leaderOf(machines);
  if (!crashing) return checker.violated('S5 the leader did not go on');
  const { lease } = crashing.gatekeeper.membership;
  trace.note(crashing.name, () => 'CRASHES while it leads');
  crashing.process.crash();
  // Clocks that drift measure another second.
  const bound = tolerance + BOUND + 2 * faultMix.drift * tolerance;
  await expectLed(world, machines, 'after a crash', definition.duration + bound, crashing);
  const isKnown = () => machines.living.some((node) => node.participants.includes(crashing.name));
  const within = lease + bound;
  if (!(await passInTime(world, machines, within, () => !isKnown())))
    checker.violated(`M2 a crash is unknown after ${within} ms`);
}

/** @param former the leader that another node must replace */
async function expectLed(world: World, machines: Machines, when: string, within: number, former?: SimNode) {
  const { checker } = world;
  const isLed = () => {
    const leader = leaderOf(machines);
    return leader !== undefined && leader !== former;
  };
  const isInTime = await passInTime(world, machines, within, isLed);
  if (!isInTime) checker.violated(`S5 no leader within ${within} ms ${when}`);
  checker.leaders.check();
  return isInTime;
}

/**
 * Nodes that see wrong clocks trust only what they observe themselves: how long a lease lasts after they first saw it. A
 * permit that was granted before the clocks were set back lasts longer by that.
 */
async function passInTime(
  { time, definition, tolerance, faultMix }: World,
  machines: Machines,
  within: number,
  isDone: () => boolean,
) {
  const areSuspect = () => machines.living.some((node) => node.isClockSuspect);
  const wereSuspect = faultMix.clockJumps.length > 0 || areSuspect();
  if (await time.pass(within, isDone)) return true;
  return (
    (wereSuspect || areSuspect()) && time.pass(definition.duration + tolerance + setBackOf(faultMix) + SOON, isDone)
  );
}

function leaderOf({ living }: Machines): SimNode | undefined {
  return living.find(({ leadership }) => leadership!.isLeader);
}
