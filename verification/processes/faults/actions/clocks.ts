import { setTimeout as pause } from 'node:timers/promises';
import type { Chance } from '../../../../test/simulation/world/chance.js';
import type { Fault } from '../fault.js';

const jump = (chance: Chance) => chance.pick(['+600s', '-600s']);

/** Ten minutes away, and back again after a while, which is a jump as well. */
const clientClock: Fault['action'] = async (testBed, chance) => {
  const { client } = await testBed.holder(chance);
  await client.setClock(jump(chance));
  await pause(chance.between(1000, 8000));
  await client.setClock('+0s');
};

const memberClock: Fault['action'] = async (testBed, chance) => {
  await testBed.hazelcast.setMemberClock(jump(chance));
  await pause(chance.between(1000, 12_000));
  await testBed.hazelcast.setMemberClock('+0s');
};

export const CLOCKS: readonly Fault[] = [
  {
    name: 'client-clock',
    needs: ['faketime'],
    isOfStore: false,
    clientClocks: true,
    alsoOn: [],
    bounds: { takeover: 1000, recovery: 15_000, convergence: 10_000 },
    action: clientClock,
  },
  {
    name: 'member-clock',
    needs: ['faketime'],
    isOfStore: true,
    site: { memberClock: true },
    alsoOn: [],
    // While clocks are suspect a taker waits until it has itself watched a permit for as long as that lasts.
    bounds: { takeover: 6000, recovery: 20_000, convergence: 20_000 },
    action: memberClock,
  },
];
