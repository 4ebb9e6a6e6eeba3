import { setTimeout as pause } from 'node:timers/promises';
import type { Chance } from '../../simulation/world/chance.js';
import type { Fault } from '../fault.js';
import { CLOCK_TOLERANCE } from '../rig.js';
import { type MemberTarget, anyMember, ownerOfAKey } from './targets.js';

/** From a hiccup to far beyond the end of a permit. */
const howLong = (duration: number, chance: Chance) => duration * chance.between(0.5, 3);

function freezing(target: MemberTarget): Fault['strike'] {
  return async (rig, chance) => {
    const member = await target(rig, chance);
    member.pause();
    try {
      await pause(howLong(chance.pick(rig.semaphores).duration, chance));
    } finally {
      member.resume();
    }
    await rig.site.whole();
  };
}

const freezeHolder: Fault['strike'] = async (rig, chance) => {
  const { client, semaphore } = await rig.holder(chance);
  client.freeze();
  try {
    await pause(howLong(semaphore.duration, chance));
  } finally {
    client.thaw();
  }
  // Time for its first steps after that, and for its last writes.
  await rig.grantsOf([semaphore], semaphore.duration + CLOCK_TOLERANCE + 2000);
};

/** A frozen member is dropped after 10 s without a beat of its heart, and merges when it goes on. */
const MEMBER_FROZEN = { takeover: 13_000, recovery: 20_000 };

export const FREEZES: readonly Fault[] = [
  {
    name: 'freeze-holder',
    needs: [],
    isOfStore: false,
    alsoOn: ['pessimistic', 'cp'],
    bounds: { takeover: 1000, recovery: 10_000 },
    strike: freezeHolder,
  },
  {
    name: 'freeze-member',
    needs: [],
    isOfStore: true,
    alsoOn: ['cp'],
    bounds: MEMBER_FROZEN,
    strike: freezing(anyMember),
  },
  {
    name: 'freeze-owner',
    needs: [],
    isOfStore: true,
    alsoOn: ['pessimistic'],
    bounds: MEMBER_FROZEN,
    strike: freezing(ownerOfAKey),
  },
];
