import { setTimeout as pause } from 'node:timers/promises';
import type { Fault } from '../fault.js';

/** Each in good order (SIGTERM), the next one when the former is back. */
const rollMembers: Fault['action'] = async (testBed) => {
  for (const member of testBed.members) {
    await member.stop();
    await member.start();
    await testBed.site.whole();
  }
};

const rollClients: Fault['action'] = async (testBed, chance) => {
  for (const client of testBed.clients) {
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
    bounds: { takeover: 3000, recovery: 15_000, convergence: 15_000 },
    action: rollMembers,
  },
  {
    name: 'roll-clients',
    needs: [],
    isOfStore: false,
    alsoOn: [],
    bounds: { takeover: 1000, recovery: 10_000, convergence: 10_000 },
    action: rollClients,
  },
];
