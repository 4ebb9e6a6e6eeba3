import { chmod, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Entry } from '../../../sample-app/src/ledger/ledger.js';
import { eventually } from '../../../test/contract/eventually.js';
import { lackOfPostgres } from '../../servers/archives/postgres-server.js';
import { lackOfMembers } from '../../needs/members.js';
import { lackOfRedis } from '../../needs/redis.js';
import { describeUnless } from '../../../test/support/unless.js';
import { RunningSample, isAlive } from './running-sample.js';
import { type LetterEntry, areParallel, notOnce, outOfOrder } from './task-effects.js';

const SECOND = 1000;
const EXPORTED = /\[nightly-export\] exported/;
/** Until another node exports: the permit's duration, the clock tolerance, the sweep's second, and a tick. */
const MOVED = (6 + 0.5 + 1 + 2) * SECOND;
/** Until the tasks of a killed node have been done by others: its lease, the turn to sweep, and the work. */
const DONE = 60 * SECOND;

const STORES = [
  { store: 'hazelcast', name: 'Hazelcast', lack: lackOfMembers },
  { store: 'postgres', name: 'PostgreSQL', lack: lackOfPostgres },
  { store: 'redis', name: 'Redis', lack: lackOfRedis },
] as const;

for (const { store, name, lack } of STORES) {
  describeUnless(lack)(`the sample with --store ${store}: three processes, kill -9 of one`, () => {
    let sample: RunningSample | undefined;
    let folder: string | undefined;
    afterEach(async () => {
      await sample?.[Symbol.asyncDispose]();
      if (folder !== undefined) await rm(folder, { recursive: true, force: true });
      sample = folder = undefined;
    });

    it('moves its jobs and tasks to the others, and leaves nothing behind on Ctrl-C', async () => {
      folder = await mkdtemp(join(tmpdir(), 'gatekeeper-sample-test-'));
      const env = { ...process.env, TMPDIR: await open(folder), TASK_DURATION: '800', DATABASE_URL: '', REDIS_URL: '' };
      sample = await RunningSample.start({ args: ['--store', store], env });
      const running = sample;
      expect(running.output).toContain(`Three processes of one application share their permits through\n${name}.`);
      expect(running.pids).toHaveLength(1 + 3 + 1);

      await eventually('two exports', () => running.lines(EXPORTED).length > 1, 40 * SECOND);
      const exporters = new Set(running.lines(EXPORTED).map(({ port }) => port));
      expect(exporters.size).toBe(1);
      const [victim] = [...exporters] as [number];
      const [other] = running.others(victim) as [number];
      const tasks = await beginTasks(running, other);
      const killed = performance.now();
      process.kill(running.pid(victim), 'SIGKILL');
      const { port: heir } = await running.nextLine(EXPORTED, MOVED, running.others(victim));
      await tasks.finished();
      // A line that the victim wrote before its death may be read after it.
      const exportersSince = running.lines(EXPORTED, killed).filter(({ port }) => port !== victim);
      expect(new Set(exportersSince.map(({ port }) => port))).toEqual(new Set([heir]));
      expect(running.output).toContain(
        `app-${victim} (pid ${running.pid(victim)}) has ended: SIGKILL. Others take its work`,
      );
      expect(running.others(victim).map((port) => isAlive(running.pid(port)))).toEqual([true, true]);

      const { pids } = running;
      expect(await running.interrupt()).toBe(0);
      expect(pids.filter(isAlive)).toEqual([]);
      expect((await readdir(folder)).filter((file) => file.startsWith('gatekeeper'))).toEqual([]);
    });
  });
}

/** A PostgreSQL that is started by root runs as another user, who must be able to enter the folder. */
async function open(folder: string): Promise<string> {
  await chmod(folder, 0o711);
  return folder;
}

/** Begins all examples of tasks on one node. Resolves when a third of the record sets is compared. */
async function beginTasks(sample: RunningSample, port: number) {
  const lines = async (book: string) =>
    (await (await fetch(`${sample.archiveUrl}/ledger/${book}`)).json()) as Promise<Entry[]>;
  for (const path of ['mail-merges/june', 'month-ends/june', 'reconciliations/june']) await begin(sample, port, path);
  const firstThird = async () => {
    const sets = await lines('record-sets');
    return sets.length > 33 && nodesOf(sets).size === 3 && sets;
  };
  const before = await eventually('a third of the record sets is compared', firstThird, DONE);
  expect(before.length).toBeLessThan(100);
  // Every node had a share, also the one that will be killed.
  expect(nodesOf(before).size).toBe(3);
  return { finished: () => expectDone(sample, lines) };
}

/** While the store is slow, the app says so. Begun again, what is there already is not there twice. */
async function begin(sample: RunningSample, port: number, path: string): Promise<void> {
  const answered = async () => {
    const { status } = await sample.post(port, `/${path}`);
    return status !== 503 && status;
  };
  expect(await eventually(`an answer to ${path}`, answered, DONE)).toBe(202);
}

const nodesOf = (sets: readonly Entry[]) => new Set(sets.map(({ node }) => node));

/** Each effect is there once, and in order. */
async function expectDone(sample: RunningSample, lines: (book: string) => Promise<Entry[]>): Promise<void> {
  await eventually('the month is closed', async () => (await lines('closed-months')).length > 0, DONE);
  await eventually('the report is published', async () => (await lines('reports')).length > 0, DONE);
  await eventually('all letters are sent', async () => (await lines('letters')).length === 48, DONE);

  expect(notOnce(await lines('record-sets'), 100)).toEqual([]);
  expect(await lines('differences')).toMatchObject([{ difference: 450, completed: 100, total: 100 }]);
  expect(await lines('closed-months')).toMatchObject([{ month: 'june', failed: 0 }]);
  expect(sample.lines(/summed up 100 of 100 record sets/)).toHaveLength(1);
  expect(sample.lines(/closed june/)).toHaveLength(1);

  const letters = (await lines('letters')) as LetterEntry[];
  expect(notOnce(letters, 48)).toEqual([]);
  expect(outOfOrder(letters)).toEqual([]);
  expect(areParallel(letters)).toBe(true);

  const [imported, parts] = [await lines('imported'), await lines('report-parts')];
  expect(notOnce(imported, 40)).toEqual([]);
  expect(notOnce(parts, 3)).toEqual([]);
  expect(await lines('reports')).toMatchObject([{ month: 'june' }]);
  // Tokens begin with cluster time, so a later claim has a higher one.
  expect(Math.min(...parts.map(({ token }) => token))).toBeGreaterThan(Math.max(...imported.map(({ token }) => token)));
}
