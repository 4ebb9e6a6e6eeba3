import { parseArgs } from 'node:util';
import { PostgresServer } from '../../support/postgres-server.js';
import { RedisServer } from '../../support/redis-server.js';
import { startHazelcast } from '../../../lib/testing/index.js';
import { delaysOfBullMQ } from './beside.js';
import { DueRun, type DueStore } from './due-run.js';

const USAGE = `due: how late delayed tasks begin, and crashed attempts are taken over, in processes of which some are killed
  --store <name>   redis (default), postgres, hazelcast
  --tasks <n>      delayed tasks (2000); two of the four nodes are killed meanwhile
  --rate <n>       of them per second (40)
  --quiet          no node is killed
  --beside         also on BullMQ, on the same Redis, without kills
  --kills <n>      nodes that are killed while their handlers run (200)
  --every <ms>     one each (2000)`;

/** @returns the exit code */
export async function main(args: string[], print: (line: string) => void): Promise<number> {
  const { values } = parseArgs({
    args,
    options: {
      help: { type: 'boolean', default: false },
      beside: { type: 'boolean', default: false },
      store: { type: 'string', default: 'redis' },
      tasks: { type: 'string', default: '2000' },
      rate: { type: 'string', default: '40' },
      kills: { type: 'string', default: '200' },
      every: { type: 'string', default: '2000' },
      quiet: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    print(USAGE);
    return 0;
  }
  await using server = await openStore(values.store);
  const { store } = server;
  const [tasks, rate, kills, every] = [values.tasks, values.rate, values.kills, values.every].map(Number);
  if (tasks! > 0) {
    await using run = new DueRun(store);
    await run.start(4);
    const late = await run.delays(tasks!, rate!, !values.quiet);
    print(`${values.store}: delayed tasks began late by ms: ${JSON.stringify(late)}`);
  }
  if (values.beside && store.redis !== undefined) {
    print(
      `BullMQ: delayed tasks began late by ms: ${JSON.stringify(await delaysOfBullMQ(store.redis, tasks!, rate!))}`,
    );
  }
  if (kills! > 0) {
    await using run = new DueRun(store);
    await run.start(4);
    const spread = await run.takeovers(kills!, every!);
    print(`${values.store}: from a kill to the next attempt, ms: ${JSON.stringify(spread)}`);
  }
  return 0;
}

/** A server of its own, with the address for the nodes. */
export interface DueServer extends AsyncDisposable {
  readonly store: DueStore;
}

export async function openStore(kind: string): Promise<DueServer> {
  if (kind === 'redis') {
    const server = await RedisServer.start();
    return { store: { redis: server.url }, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
  }
  if (kind === 'postgres') {
    const server = await PostgresServer.start();
    return { store: { postgres: server.address() }, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
  }
  const cluster = await startHazelcast({ members: 1 });
  const { clusterName, addresses: members } = cluster;
  return { store: { hazelcast: { clusterName, members } }, [Symbol.asyncDispose]: () => cluster.stop() };
}
