import { setTimeout as pause } from 'node:timers/promises';
import { eventually } from '../../../../test/contract/eventually.js';
import type { Chance } from '../../../../test/simulation/world/chance.js';
import type { ClusterStatus } from 'nestjs-gatekeeper';
import type { Client } from '../client.js';
import type { Fault } from '../fault.js';
import { CLOCK_TOLERANCE, LEASE, type TestBed } from '../test-bed.js';

/** ms until another process must lead after a crash; a second more for a busy machine. */
const TAKEOVER = LEASE + CLOCK_TOLERANCE + 2000;
/** ms for which a process that resigned does not lead again, if others can. */
const REST = 6000;

const killLeader: Fault['action'] = async (testBed, chance) => {
  const client = await testBed.leader();
  // Anywhere between two refreshes.
  await pause(chance.between(0, LEASE / 3));
  await client.kill();
  const restart = pause(chance.between(0, 1500)).then(() => client.start());
  await Promise.all([testBed.grantsOf([testBed.leadership], TAKEOVER), restart]);
};

const freezeLeader: Fault['action'] = async (testBed, chance) => {
  const client = await testBed.leader();
  client.freeze();
  try {
    await pause(LEASE * chance.between(0.5, 3));
  } finally {
    client.thaw();
  }
  // Time for its first steps after that, and for its last writes.
  await pause(1000);
};

const cutLeader: Fault['action'] = async (testBed, chance) => {
  const client = await testBed.leader();
  await testBed.site.network.part([client.place]);
  testBed.recorder.outside(client.name, { event: 'cut' });
  await pause(LEASE * chance.between(0.5, 4));
  await testBed.site.network.heal();
  await testBed.site.whole();
};

const statusOf = (client: Client) => client.ask('GET', '/leadership') as Promise<ClusterStatus>;

/** By turns, so that there are always others that may lead at once. */
const HANDOVERS: readonly ((testBed: TestBed, leader: Client, chance: Chance) => Promise<unknown>)[] = [
  async (testBed, leader) => {
    testBed.recorder.outside(leader.name, { event: 'handing-over', how: 'resignation' });
    await leader.ask('PUT', '/leadership/resign');
  },
  async (testBed, leader, chance) => {
    const target = chance.pick(testBed.clients.filter((client) => client !== leader));
    const { current } = await statusOf(target);
    await eventually('the leader knows the target', async () =>
      (await statusOf(leader)).participants.includes(current),
    );
    testBed.recorder.outside(leader.name, { event: 'handing-over', how: 'transfer' });
    await leader.ask('PUT', `/leadership/transfer/${current}`);
  },
  (_testBed, leader) => leader.restart(),
];

const handOver: Fault['action'] = async (testBed, chance) => {
  for (const act of HANDOVERS) {
    const leader = await testBed.leader();
    const granted = testBed.grantsOf([testBed.leadership], REST);
    await act(testBed, leader, chance);
    await granted;
    // Time for all to know each other.
    await pause(LEASE / 2);
  }
};

const OF_CLIENTS = {
  needs: [],
  isOfStore: false,
  alsoOn: [],
  bounds: { takeover: 1000, recovery: 10_000, convergence: 10_000 },
} as const;

export const LEADERS: readonly Fault[] = [
  { ...OF_CLIENTS, name: 'kill-leader', action: killLeader },
  { ...OF_CLIENTS, name: 'freeze-leader', action: freezeLeader },
  { ...OF_CLIENTS, name: 'hand-over', action: handOver },
  {
    name: 'cut-leader',
    needs: ['namespaces'],
    isOfStore: true,
    alsoOn: [],
    bounds: { takeover: 13_000, recovery: 30_000, convergence: 30_000 },
    action: cutLeader,
  },
];
