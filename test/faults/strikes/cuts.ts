import { setTimeout as pause } from 'node:timers/promises';
import type { Chance } from '../../simulation/world/chance.js';
import type { Fault } from '../fault.js';
import type { Place } from '../network.js';
import type { Rig } from '../rig.js';

type Who = (rig: Rig, chance: Chance) => Place;

const member: Who = (rig, chance) => rig.site.place(chance.pick(rig.members));
const client: Who = (rig, chance) => chance.pick(rig.clients).place;

/** Short ones go unnoticed; a member that is cut off for more than 10 s is dropped by the others. */
const howLong = (chance: Chance) => chance.between(1000, 14_000);

async function during(rig: Rig, chance: Chance, cut: () => Promise<void>, ms = howLong(chance)): Promise<void> {
  await cut();
  await pause(ms);
  await rig.site.network.heal();
  await rig.site.whole();
}

const oneWay =
  (who: Who): Fault['strike'] =>
  (rig, chance) =>
    during(rig, chance, () => rig.site.network.silence(who(rig, chance)));

const twoWay =
  (who: Who): Fault['strike'] =>
  (rig, chance) =>
    during(rig, chance, () => rig.site.network.part([who(rig, chance)]));

/** One member and half of the clients on one side, two members and the others on the other, until each has noticed. */
const split: Fault['strike'] = (rig, chance) => {
  const clients = rig.clients.toSorted(() => chance.between(-1, 1)).slice(0, rig.clients.length / 2);
  const side = [member(rig, chance), ...clients.map(({ place }) => place)];
  return during(rig, chance, () => rig.site.network.part(side), chance.between(12_000, 20_000));
};

const slow: Fault['strike'] = (rig, chance) => during(rig, chance, () => rig.site.network.slow(member(rig, chance)));

/**
 * Both ends of a cut connection find out in their own time: TCP sends again after pauses that grow to as long as the cut
 * was, a dropped member merges some seconds after it can be reached, and a record of its partitions may wait for both.
 */
const CUT = { takeover: 13_000, recovery: 30_000 };
const NAMESPACES = ['namespaces'] as const;

export const CUTS: readonly Fault[] = [
  {
    name: 'cut-client-one-way',
    needs: NAMESPACES,
    isOfStore: true,
    alsoOn: ['cp'],
    bounds: CUT,
    strike: oneWay(client),
  },
  {
    name: 'cut-client-two-way',
    needs: NAMESPACES,
    isOfStore: true,
    alsoOn: ['pessimistic'],
    bounds: CUT,
    strike: twoWay(client),
  },
  {
    name: 'cut-member-one-way',
    needs: NAMESPACES,
    isOfStore: true,
    alsoOn: ['pessimistic'],
    bounds: CUT,
    strike: oneWay(member),
  },
  {
    name: 'cut-member-two-way',
    needs: NAMESPACES,
    isOfStore: true,
    alsoOn: ['cp'],
    bounds: CUT,
    strike: twoWay(member),
  },
  { name: 'slow-store', needs: NAMESPACES, isOfStore: true, alsoOn: [], bounds: CUT, strike: slow },
  { name: 'split', needs: NAMESPACES, isOfStore: true, alsoOn: ['pessimistic', 'cp'], bounds: CUT, strike: split },
  {
    name: 'split-without-quorum',
    needs: NAMESPACES,
    isOfStore: true,
    site: { quorum: false },
    alsoOn: [],
    bounds: { ...CUT, mayOverlap: true },
    strike: split,
  },
];
