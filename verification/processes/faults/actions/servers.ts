import { setTimeout as pause } from 'node:timers/promises';
import type { Fault } from '../fault.js';
import { SERVER_STORES } from '../stores.js';

/** SIGKILL; after a while the server starts again on the data that it has on its disk. */
const killServer: Fault['action'] = async ({ server }, chance) => {
  await server.kill();
  await pause(chance.between(0, 4000));
  await server.restart();
};

/** SIGSTOP: connections stay, and the server answers nothing. Afterwards it applies all that it got. */
const freezeServer: Fault['action'] = async (testBed, chance) => {
  const thaw = await testBed.server.freeze();
  try {
    await pause(chance.pick(testBed.semaphores).duration * chance.between(0.2, 2));
  } finally {
    thaw();
  }
};

/** Again and again, so that calls break at any point. */
const cutConnections: Fault['action'] = async ({ server }, chance) => {
  for (let cut = 0; cut < 8; cut++) {
    for (const proxy of server.proxies) if (chance.happens(0.7)) proxy.cut();
    await pause(chance.between(20, 600));
  }
};

/** The server applies all writes of some clients, which get no answer. Then their connections break. */
const loseAnswers: Fault['action'] = async ({ server }, chance) => {
  const cut = server.proxies.filter(() => chance.happens(0.6));
  for (const proxy of cut) proxy.loseAnswers();
  await pause(chance.between(500, 6000));
  for (const proxy of cut) proxy.cut();
};

/** A replica stops following while permits are granted. The primary dies, and all clients find the replica in its place. */
const failOver: Fault['action'] = async ({ server }, chance) => {
  const replica = await server.replica();
  await pause(chance.between(0, 1000));
  await replica.command('REPLICAOF', 'NO', 'ONE');
  await pause(chance.between(50, 2000));
  await server.failOver(replica);
};

/** Clients look for the server again after a pause of up to 2 s, and a call that hangs takes 2 s. */
const SERVER = { takeover: 8000, recovery: 20_000, convergence: 20_000 };
/** After a restart of Redis the grace comes first: as long as the longest permit, 5 s. */
const SERVER_AND_GRACE = { takeover: 15_000, recovery: 25_000, convergence: 30_000 };

const common = { needs: [], isOfStore: true, alsoOn: [] } as const;

export const SERVERS: readonly Fault[] = [
  {
    ...common,
    name: 'kill-server',
    onlyOn: SERVER_STORES,
    // Names on demand wait for 15 minutes on Redis, which can't tell whether its file is old.
    losesData: true,
    bounds: SERVER_AND_GRACE,
    action: killServer,
  },
  { ...common, name: 'freeze-server', onlyOn: SERVER_STORES, bounds: SERVER, action: freezeServer },
  { ...common, name: 'cut-connections', onlyOn: SERVER_STORES, bounds: SERVER, action: cutConnections },
  { ...common, name: 'lose-answers', onlyOn: SERVER_STORES, bounds: SERVER, action: loseAnswers },
  {
    ...common,
    name: 'failover',
    onlyOn: ['redis'],
    losesData: true,
    bounds: SERVER_AND_GRACE,
    action: failOver,
  },
];
