import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { Gatekeeper, type StoreDefinition, hazelcast, parseGatekeeperOptions, single } from '../../../lib/index.js';
import { postgres } from '../../../lib/stores/postgres/index.js';
import { redis } from '../../../lib/stores/redis/index.js';
import { type DueLine, type DueStore, LEASE } from './due-run.js';

const QUIET = { log() {}, warn() {}, error() {}, debug() {} };

/**
 * One node as a process of its own, which `due-run.ts` starts. It ends with its standard input.
 *
 *     submit PREFIX COUNT PAUSE   tasks `due`, one each PAUSE ms, that are due 200 to 1,700 ms later
 *     hold ID                     a task `hold`, whose handler never ends
 */
async function serve([store, name]: readonly string[]): Promise<void> {
  const settings = parseGatekeeperOptions({ store: storeOf(JSON.parse(store!) as DueStore), acquirer: name! });
  const gatekeeper = new Gatekeeper(settings, QUIET);
  const { tasks } = gatekeeper;
  tasks.handlers.handle<number>('due', ({ id, data: due }) => say({ type: 'began', id, at: Date.now(), due }), {
    lease: LEASE,
    concurrency: 50,
  });
  const hold = ({ id, token }: { id: string; token: number }): Promise<never> => {
    say({ type: 'holds', id, token, at: Date.now() });
    return new Promise(() => undefined);
  };
  tasks.handlers.handle('hold', hold, { lease: LEASE, concurrency: 4 });
  await gatekeeper.start();
  await gatekeeper.ready();
  tasks.start();
  say({ type: 'ready' });
  for await (const line of createInterface({ input: process.stdin })) {
    const [command, id = '', count, every] = line.split(' ');
    if (command === 'hold') void tasks.submit(single('hold', id), undefined, { maxCrashes: 1000 });
    else void submit(gatekeeper, id, Number(count), Number(every));
  }
  process.exit();
}

async function submit({ tasks }: Gatekeeper, prefix: string, count: number, every: number): Promise<void> {
  for (let number = 0; number < count; number++) {
    const due = Date.now() + 200 + Math.floor(1500 * Math.random());
    const id = `${prefix}-${number}`;
    void tasks
      .submit(single('due', id), due, { runAt: new Date(due), maxCrashes: 100 })
      .then(() => say({ type: 'submitted', id: `due:${id}` }));
    await pause(every);
  }
}

function storeOf(store: DueStore): StoreDefinition {
  if (store.redis !== undefined) return redis({ url: store.redis });
  if (store.postgres !== undefined) return postgres({ connectionString: store.postgres });
  return hazelcast(store.hazelcast!);
}

function say(line: DueLine): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

await serve(process.argv.slice(2));
