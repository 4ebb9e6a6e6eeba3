import { setTimeout as pause } from 'node:timers/promises';
import type { Fault } from '../fault.js';

/** Each in good order (SIGTERM), the next one when the former is back. */
const rollMembers: Fault['strike'] = async (rig) => {
  for (const member of rig.members) {
    await member.stop();
    await member.start();
    await rig.site.whole();
  }
};

const rollClients: Fault['strike'] = async (rig, chance) => {
  for (const client of rig.clients) {
    await client.restart();
    await pause(chance.between(0, 1000));
  }
};

export const RESTARTS: readonly Fault[] = [
  {
    name: 'roll-members',
    needs: [],
    isOfStore: true,
    alsoOn: [],
    bounds: { takeover: 3000, recovery: 15_000 },
    strike: rollMembers,
  },
  {
    name: 'roll-clients',
    needs: [],
    isOfStore: false,
    alsoOn: [],
    bounds: { takeover: 1000, recovery: 10_000 },
    strike: rollClients,
  },
];
