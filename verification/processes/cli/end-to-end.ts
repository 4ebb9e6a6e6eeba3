import { join } from 'node:path';
import { writeFile } from 'node:fs/promises';
import { eventually } from '../../../test/contract/eventually.js';
import { LiveCluster, type ServerName, type Way } from './live-cluster.js';
import { DEFINITIONS } from '../../../test/cli/memory-cluster.js';
import { describeOnHazelcast } from '../../needs/members.js';
import { describeOnRedis } from '../../needs/redis.js';
import { lackOfPostgres } from '../../support/postgres-server.js';
import { describeUnless } from '../../../test/support/unless.js';

const DESCRIBE = { Hazelcast: describeOnHazelcast, PostgreSQL: describeUnless(lackOfPostgres), Redis: describeOnRedis };

/** Entries of the audit log, the newest first. */
const NOTED = 'remove dora,revoke dora,edit dora,define dora';

/** Kills its process in the middle of a long output to standard error: from outside that might come too late. */
const DYING = `data:text/javascript,${encodeURIComponent(`
  const write = process.stderr.write.bind(process.stderr);
  let count = 0;
  process.stderr.write = (...args) => {
    write(...args);
    if (++count === 10) process.kill(process.pid, 'SIGKILL');
  };`)}`;

/** The work of an operator with the command line as it is shipped. */
export function describeCommandLine(way: Way, server: ServerName = 'Hazelcast'): void {
  DESCRIBE[server](`the command line as a process, ${way}, on ${server}`, () => {
    let cluster: LiveCluster;
    beforeAll(async () => {
      cluster = await LiveCluster.start(DEFINITIONS, server);
    });
    afterAll(() => cluster?.[Symbol.asyncDispose]());

    const call = (...args: string[]) => cluster.process(way, args);
    /** Output with --json; standard output must contain nothing else. */
    const json = async (...args: string[]) => {
      const { exitCode, stdout, stderr } = await call(...args, '--json');
      expect({ args, exitCode, stderr }).toEqual({ args, exitCode: 0, stderr: '' });
      return JSON.parse(stdout);
    };

    it('shows semaphores, explanations, nodes and runs', async () => {
      const permit = (await cluster.gatekeeper.tryAcquire('report'))!;
      await cluster.gatekeeper.run('nightly-export', () => 'done');

      const { semaphores } = await json('status');
      expect(semaphores.map(({ name, free }: { name: string; free: number }) => [name, free])).toEqual([
        ['nightly-export', 0],
        ['report', 1],
      ]);
      expect((await call('status')).stdout).toMatch(/^report +free +1\/2 +app1 \(/m);
      expect(await json('explain', 'report')).toMatchObject({ semaphore: 'report', holders: [{ id: permit.id }] });
      const { nodes } = await json('nodes');
      expect(nodes).toMatchObject([{ acquirer: 'app1', version: '1.2.3', holds: expect.any(Array) }]);
      expect(nodes[0].holds).toContainEqual(expect.objectContaining({ semaphore: 'report', slot: permit.slot }));
      await eventually('the run is noted', async () => (await json('history', 'nightly-export')).entries.length === 1);
    });

    it('defines, edits, revokes, removes, and the audit log tells who did', async () => {
      const defined = await json('define', 'import', '--duration', '5m', '--group', 'production', '--reason', 'new');
      expect(defined).toMatchObject({ definition: { name: 'import', duration: 300_000 }, change: { by: 'dora' } });
      expect((await call('define', 'import', '--duration', '5m')).exitCode).toBe(4);

      const edited = await json('edit', 'import', '--permits', '3', '--expected-revision', '1');
      expect(edited).toMatchObject({ definition: { permits: 3, groupPattern: 'production' }, revision: 2 });
      const late = await call('edit', 'import', '--permits', '4', '--expected-revision', '1');
      expect(late).toMatchObject({ exitCode: 4, stdout: '' });
      expect(late.stderr).toMatch(/^gatekeeper: .*revision 2.*\n$/);

      const permit = (await cluster.gatekeeper.tryAcquire('import'))!;
      expect(await json('revoke', 'import', permit.id)).toEqual({ semaphore: 'import', revoked: permit.id });
      await eventually('the signal of the holder aborts', () => permit.signal.aborted);
      expect((await call('revoke', 'import', permit.id)).exitCode).toBe(3);

      expect(await json('remove', 'import')).toEqual({ removed: 'import' });
      expect((await call('remove', 'import')).exitCode).toBe(3);
      await eventually('all is noted', async () => {
        const { entries } = await json('audit', 'import');
        return entries.map(({ action, by }: { action: string; by: string }) => `${action} ${by}`).join() === NOTED;
      });
    });

    it('pauses and resumes all that match', async () => {
      const undo = expect.any(String);
      expect(await json('pause', 'rep.*', '--reason', 'maintenance')).toEqual({ paused: ['report'], failed: [], undo });
      expect((await cluster.gatekeeper.definitions.get('report'))?.pause).toMatchObject({ reason: 'maintenance' });
      expect((await call('pause', 'nothing')).exitCode).toBe(3);
      expect(await json('resume', '.*')).toEqual({ resumed: ['report'], failed: [], undo });
    });

    it('migrates there and back, dry at first', async () => {
      const there = ['migrate', '--from-group', 'production', '--to-group', 'dr-site'];
      const planned = await json(...there);
      expect(planned).toMatchObject({ dryRun: true, steps: [{ name: 'nightly-export' }, { name: 'report' }] });
      expect(await call(...there, '--yes')).toMatchObject({ exitCode: 4, stdout: '' });
      const meant = ['--yes', '--without-candidates'];
      expect(await json(...there, ...meant)).toMatchObject({ migrated: ['nightly-export', 'report'], failed: [] });
      expect((await cluster.gatekeeper.definitions.get('report'))?.definition.groupPattern).toBe('dr-site');
      const back = await call('migrate', '--from-group', 'dr-site', '--group-pattern', 'production', '--yes');
      expect(back).toMatchObject({ exitCode: 0, stdout: 'migrated 2\n', stderr: '' });
    });

    it('dumps and loads', async () => {
      const path = join(cluster.folder, 'dump.json');
      await writeFile(path, (await call('dump')).stdout);
      await cluster.gatekeeper.definitions.edit('report', { permits: 9 });
      expect(await json('load', path)).toMatchObject({ dryRun: true, steps: [{ name: 'report', actions: ['edit'] }] });
      expect(await json('load', path, '--yes')).toMatchObject({ loaded: ['report'], failed: [] });
      expect((await cluster.gatekeeper.definitions.get('report'))?.definition.permits).toBe(2);
    });

    // What follows depends on the process and its streams, not on the store.
    if (server !== 'Hazelcast') return;

    it('goes on with a migration where it was killed', async () => {
      const names = Array.from({ length: 60 }, (_, index) => `bulk-${index}`);
      const { definitions } = cluster.gatekeeper;
      const defined = names.map((name) => definitions.define({ name, groupPattern: 'old', duration: '1m' }));
      const before = await Promise.all(defined);
      const command = [
        'migrate',
        '--from-group',
        'old',
        '--to-group',
        'new',
        '--batch',
        '1',
        '--yes',
        '--without-candidates',
      ];
      const first = cluster.process(way, [...command, '--progress'], { NODE_OPTIONS: `--import ${DYING}` });
      expect(await first).toMatchObject({ signal: 'SIGKILL' });

      const { migrated, failed } = await json(...command);
      expect(failed).toEqual([]);
      expect(migrated.length).toBeGreaterThan(0);
      expect(migrated.length).toBeLessThan(names.length);
      const states = await Promise.all(names.map((name) => definitions.get(name)));
      expect(states.filter((state) => state?.definition.groupPattern !== 'new')).toEqual([]);
      // Those that the first call changed were left alone by the second.
      expect(states.map((state) => state?.revision)).toEqual(before.map(({ revision }) => revision + 1));
      await Promise.all(names.map((name) => definitions.remove(name)));
    });

    it('resets to the code through a node whose code says something, and only there', async () => {
      await cluster.gatekeeper.definitions.edit('report', { permits: 9 });
      const { exitCode, stderr } = await call('reset', 'report');
      const permits = (await cluster.gatekeeper.definitions.get('report'))?.definition.permits;
      const isDone = way === 'over HTTP';
      expect({ exitCode, permits }).toEqual(isDone ? { exitCode: 0, permits: 2 } : { exitCode: 3, permits: 9 });
      expect(stderr).toMatch(isDone ? /^$/ : /ask a node whose code does/);
    });

    it.each(['SIGINT', 'SIGTERM'] as const)('watches until %s, and ends with 0', async (signal) => {
      const watching = call('watch', 'report', '--interval', '100ms');
      let shown = '';
      watching.stdout.on('data', (text) => (shown += text));
      await eventually('it shows the present state', () => /^report/m.test(shown));
      const { revision } = await cluster.gatekeeper.definitions.edit('report', { permits: 3 }, { by: 'bob' });
      await eventually('it shows the change', () => shown.includes(`revision ${revision}, edit by bob`));
      watching.kill(signal);
      expect(await watching).toMatchObject({ exitCode: 0, stderr: '' });
    });

    it('ends quietly when its reader has seen enough', async () => {
      const watching = call('watch', '--interval', '20ms', '--json');
      await eventually('it writes', () => watching.stdout.readableLength > 0 || watching.stdout.readableFlowing);
      watching.stdout.destroy();
      for (const permits of [4, 5, 6]) await cluster.gatekeeper.definitions.edit('report', { permits });
      expect(await watching).toMatchObject({ exitCode: 0, stderr: '' });
    });

    it('comes to its end without a reader: its exit code counts, and the audit log has its changes', async () => {
      const path = join(cluster.folder, 'partly.json');
      const dump = await json('dump');
      const [first, second] = dump.semaphores;
      const semaphores = [
        { ...first, duration: 1 },
        { ...second, permits: 8 },
      ];
      await writeFile(path, JSON.stringify({ ...dump, semaphores }));

      const loading = call('load', path, '--yes', '--reason', 'without a reader');
      loading.stdout.destroy();

      expect(await loading).toMatchObject({ exitCode: 1, stderr: expect.stringContaining(first.name) });
      await eventually('the change is noted', async () => {
        const { entries } = await json('audit', second.name);
        return entries[0].reason === 'without a reader';
      });
    });

    it('ends a change of many in order if its progress has no reader, so that it can be undone', async () => {
      const migrating = call(
        'migrate',
        '--to-group',
        'dr-site',
        '--yes',
        '--without-candidates',
        '--progress',
        '--json',
      );
      migrating.stderr.destroy();

      const { exitCode, stdout } = await migrating;
      expect(exitCode).toBe(0);
      const { migrated, undo } = JSON.parse(stdout);
      expect(migrated).toEqual(['nightly-export', 'report']);
      expect(await json('undo', undo, '--yes')).toMatchObject({ undone: migrated, left: [], failed: [] });
    });
  });
}
