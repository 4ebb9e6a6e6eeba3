import { setTimeout as pause } from 'node:timers/promises';
import type { Fault } from '../fault.js';
import { CLOCK_TOLERANCE } from '../test-bed.js';
import { type MemberTarget, anyMember, ownerOfAKey } from './targets.js';

/** kill -9, and after a while it is started again, empty. */
function killing(target: MemberTarget): Fault['action'] {
  return async (testBed, chance) => {
    const member = await target(testBed, chance);
    await member.kill();
    await pause(chance.between(500, 5000));
    await member.start();
    await testBed.site.whole();
  };
}

const killHolder: Fault['action'] = async (testBed, chance) => {
  const { client, semaphore } = await testBed.holder(chance);
  // Anywhere between two refreshes.
  await pause(chance.between(0, semaphore.duration / 3));
  const until = semaphore.duration + CLOCK_TOLERANCE + 2000;
  await client.kill();
  await Promise.all([testBed.grantsOf([semaphore], until), pause(chance.between(0, 1500)).then(() => client.start())]);
};

/** A dead member's connections are closed at once: the others take its partitions over without waiting for its heart. */
const MEMBER_DIES = { takeover: 3000, recovery: 15_000, convergence: 15_000 };

export const DEATHS: readonly Fault[] = [
  {
    name: 'kill-holder',
    needs: [],
    isOfStore: false,
    alsoOn: ['pessimistic', 'cp'],
    bounds: { takeover: 1000, recovery: 10_000, convergence: 10_000 },
    action: killHolder,
  },
  {
    name: 'kill-member',
    needs: [],
    isOfStore: true,
    alsoOn: ['pessimistic'],
    bounds: MEMBER_DIES,
    action: killing(anyMember),
  },
  { name: 'kill-owner', needs: [], isOfStore: true, alsoOn: [], bounds: MEMBER_DIES, action: killing(ownerOfAKey) },
];
