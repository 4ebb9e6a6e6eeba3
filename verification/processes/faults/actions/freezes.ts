import { setTimeout as pause } from 'node:timers/promises';
import type { Chance } from '../../../../test/simulation/world/chance.js';
import type { Fault } from '../fault.js';
import { CLOCK_TOLERANCE } from '../test-bed.js';
import { type MemberTarget, anyMember, ownerOfAKey } from './targets.js';

/** From a hiccup to far beyond the end of a permit. */
const howLong = (duration: number, chance: Chance) => duration * chance.between(0.5, 3);

function freezing(target: MemberTarget): Fault['action'] {
  return async (testBed, chance) => {
    const member = await target(testBed, chance);
    await member.pause();
    try {
      await pause(howLong(chance.pick(testBed.semaphores).duration, chance));
    } finally {
      member.resume();
    }
    await testBed.site.whole();
  };
}

const freezeHolder: Fault['action'] = async (testBed, chance) => {
  const { client, semaphore } = await testBed.holder(chance);
  client.freeze();
  try {
    await pause(howLong(semaphore.duration, chance));
  } finally {
    client.thaw();
  }
  // Time for its first steps after that, and for its last writes.
  await testBed.grantsOf([semaphore], semaphore.duration + CLOCK_TOLERANCE + 2000);
};

/** A frozen member is dropped after 10 s without a beat of its heart, and merges when it goes on. */
const MEMBER_FROZEN = { takeover: 13_000, recovery: 20_000, convergence: 20_000 };

export const FREEZES: readonly Fault[] = [
  {
    name: 'freeze-holder',
    needs: [],
    isOfStore: false,
    alsoOn: ['pessimistic', 'cp'],
    bounds: { takeover: 1000, recovery: 10_000, convergence: 10_000 },
    action: freezeHolder,
  },
  {
    name: 'freeze-member',
    needs: [],
    isOfStore: true,
    alsoOn: ['cp'],
    bounds: MEMBER_FROZEN,
    action: freezing(anyMember),
  },
  {
    name: 'freeze-owner',
    needs: [],
    isOfStore: true,
    alsoOn: ['pessimistic'],
    bounds: MEMBER_FROZEN,
    action: freezing(ownerOfAKey),
  },
];
