import { setTimeout as pause } from 'node:timers/promises';
import type { Chance } from '../../../../test/simulation/world/chance.js';
import type { Fault } from '../fault.js';
import type { Network, Place } from '../network.js';
import type { TestBed } from '../test-bed.js';

type Who = (testBed: TestBed, chance: Chance) => { readonly place: Place; readonly client?: string };

const member: Who = (testBed, chance) => ({ place: testBed.hazelcast.place(chance.pick(testBed.members)) });
const client: Who = (testBed, chance) => {
  const { place, name } = chance.pick(testBed.clients);
  return { place, client: name };
};

/** Short ones go unnoticed; a member that is cut off for more than 10 s is dropped by the others. */
const howLong = (chance: Chance) => chance.between(1000, 14_000);

async function during(testBed: TestBed, chance: Chance, cut: () => Promise<void>, ms = howLong(chance)): Promise<void> {
  await cut();
  await pause(ms);
  await testBed.site.network.heal();
  await testBed.site.whole();
}

function cutting(who: Who, cut: (network: Network, place: Place) => Promise<void>): Fault['action'] {
  return (testBed, chance) => {
    const { place, client: name } = who(testBed, chance);
    return during(testBed, chance, async () => {
      await cut(testBed.site.network, place);
      if (name !== undefined) testBed.recorder.outside(name, { event: 'cut' });
    });
  };
}

const oneWay = (who: Who) => cutting(who, (network, place) => network.silence(place));
const twoWay = (who: Who) => cutting(who, (network, place) => network.part([place]));

/** One member and half of the clients on one side, two members and the others on the other, until each has noticed. */
const split: Fault['action'] = (testBed, chance) => {
  const clients = testBed.clients.toSorted(() => chance.between(-1, 1)).slice(0, testBed.clients.length / 2);
  const side = [member(testBed, chance).place, ...clients.map(({ place }) => place)];
  return during(testBed, chance, () => testBed.site.network.part(side), chance.between(12_000, 20_000));
};

const slow: Fault['action'] = (testBed, chance) =>
  during(testBed, chance, () => testBed.site.network.slow(member(testBed, chance).place));

/**
 * Both ends of a cut connection find out in their own time: TCP sends again after pauses that grow to as long as the cut
 * was, a dropped member merges some seconds after it can be reached, and a record of its partitions may wait for both.
 */
const CUT = { takeover: 13_000, recovery: 30_000, convergence: 30_000 };
const NAMESPACES = ['namespaces'] as const;

export const CUTS: readonly Fault[] = [
  {
    name: 'cut-client-one-way',
    needs: NAMESPACES,
    isOfStore: true,
    alsoOn: ['cp'],
    bounds: CUT,
    action: oneWay(client),
  },
  {
    name: 'cut-client-two-way',
    needs: NAMESPACES,
    isOfStore: true,
    alsoOn: ['pessimistic'],
    bounds: CUT,
    action: twoWay(client),
  },
  {
    name: 'cut-member-one-way',
    needs: NAMESPACES,
    isOfStore: true,
    alsoOn: ['pessimistic'],
    bounds: CUT,
    action: oneWay(member),
  },
  {
    name: 'cut-member-two-way',
    needs: NAMESPACES,
    isOfStore: true,
    alsoOn: ['cp'],
    bounds: CUT,
    action: twoWay(member),
  },
  { name: 'slow-store', needs: NAMESPACES, isOfStore: true, alsoOn: [], bounds: CUT, action: slow },
  { name: 'split', needs: NAMESPACES, isOfStore: true, alsoOn: ['pessimistic', 'cp'], bounds: CUT, action: split },
  {
    name: 'split-without-quorum',
    needs: NAMESPACES,
    isOfStore: true,
    site: { quorum: false },
    // The merge drops the records of one side.
    losesData: true,
    alsoOn: [],
    bounds: { ...CUT, mayOverlap: true },
    action: split,
  },
];
