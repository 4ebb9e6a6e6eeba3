import { statusText } from '../../lib/cli/views/status.view.js';
import { removed } from '../support/removed.js';
import type { StoreDefinition } from 'nestjs-gatekeeper';
import { parse } from 'yaml';
import { until } from '../support/apps.js';
import { over } from './command-line.js';
import { useMemoryCluster } from './memory-cluster.js';

describe('what the command line shows', () => {
  const cluster = useMemoryCluster();

  it('lists semaphores with their holders and definitions, aligned', async () => {
    const { node, gatekeeper } = cluster();
    const app = await node();
    await app.tryAcquire('nightly-export');

    const { exitCode, out, err } = await gatekeeper(['status']);

    const [head, exported, report] = out.split('\n');
    expect(head).toMatch(/^NAME +STATE +HELD +BY +GROUP +ACQUIRER +DURATION +REVISION +REMARK$/);
    expect(exported).toMatch(/^nightly-export +held +1\/1 +app1 \(\d+ min( \d+ s)?\) +production +app\[12] +10m +1/);
    expect(report).toMatch(/^report +free +0\/2 +- +production +\.\* +90s +1/);
    expect(head!.indexOf('HELD')).toBe(exported!.indexOf('1/1'));
    expect({ exitCode, err }).toEqual({ exitCode: 0, err: '' });
  });

  it('writes the same as text, wide text, JSON or YAML', async () => {
    const { node, gatekeeper } = cluster();
    await (await node()).run('report', async () => undefined, { job: 'Reports.monthly' });
    await until(async () => (await gatekeeper(['history', 'report'])).out.includes('Reports.monthly'));
    // The past of a job is written a moment after the journal.
    const isShown = / \d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ +ok +- /;
    await until(async () => isShown.test((await gatekeeper(['status', 'report', '-o', 'wide'])).out));
    const wide = await gatekeeper(['status', 'report', '-o', 'wide']);
    expect(wide.out).toMatch(/^NAME .* REVISION +LAST RUN +OUTCOME +NEXT RUN +JOBS +REMARK\n/);
    const json = JSON.parse((await gatekeeper(['audit', '--output', 'json'])).out);
    expect(parse((await gatekeeper(['-o', 'yaml', 'audit'])).out)).toEqual(json);
    const both = await gatekeeper(['status', '--json', '-o', 'yaml']);
    expect(both).toMatchObject({ exitCode: 2, err: expect.stringContaining('cannot be used with') });
    const unknown = await gatekeeper(['status', '-o', 'xml']);
    expect(unknown).toMatchObject({
      exitCode: 2,
      err: expect.stringContaining('Allowed choices are text, wide, json, yaml'),
    });
  });

  it('says when options leave out all semaphores, which is no unknown name', async () => {
    const { node, gatekeeper } = cluster();
    await node();
    expect(await gatekeeper(['status', '--paused'])).toEqual({ exitCode: 0, out: '0 of 2 semaphores\n', err: '' });
    expect(await gatekeeper(['status', 'report', '--paused'])).toEqual({
      exitCode: 0,
      out: '0 of 1 semaphores\n',
      err: '',
    });
    expect(await gatekeeper(['status', 'repo', '--paused'])).toMatchObject({ exitCode: 3, out: '' });
  });

  it('selects by a pattern over the whole name and by filters', async () => {
    const { node, gatekeeper } = cluster();
    const app = await node();
    await app.tryAcquire('report');
    await app.definitions.pause('nightly-export');
    const names = async (...args: string[]) => {
      const { out } = await gatekeeper(['status', '--json', ...args]);
      return JSON.parse(out).semaphores.map(({ name }: { name: string }) => name);
    };

    expect(await names('report')).toEqual(['report']);
    expect(await names('--held')).toEqual(['report']);
    expect(await names('--paused')).toEqual(['nightly-export']);
    expect(await names('--overridden')).toEqual([]);
    expect((await gatekeeper(['status', 'repor'])).exitCode).toBe(3);
  });

  it('says who has paused what and why, and what the group pattern will be afterwards', async () => {
    const { node, gatekeeper } = cluster();
    const app = await node();
    await app.definitions.pause('report', { by: 'bob', reason: 'the database moves' });

    const { out } = await gatekeeper(['status', 'report']);

    expect(out).toMatch(/^report +paused .* production .* paused by bob: the database moves/m);
  });

  it('explains what would be decided for a node of any group and name', async () => {
    const { node, gatekeeper } = cluster();
    const app = await node();
    await app.tryAcquire('nightly-export');
    const explain = (...args: string[]) => gatekeeper(['explain', 'nightly-export', ...args]);

    const stranger = await explain('--group', 'dr-site', '--acquirer', 'app1');
    expect(stranger.out).toMatch(/^nightly-export: .*"dr-site" .* groupPattern "production"/);
    expect(stranger.exitCode).toBe(0);

    const colleague = await explain('--group', 'production', '--acquirer', 'app2', '--check');
    expect(colleague.out).toMatch(/^nightly-export: .*: app1 \(/);
    expect(colleague.out).toMatch(/SLOT +HOLDER +INSTANCE +TOKEN +UNTIL +PERMIT ID\n0 +production\/app1/);
    expect(colleague.exitCode).toBe(4);
  });

  it('ends with 3 when it explains an undefined semaphore', async () => {
    const { gatekeeper } = cluster();
    const { exitCode, out } = await gatekeeper(['explain', 'nothing']);
    expect([exitCode, out]).toEqual([3, expect.stringMatching(/^nothing: ./)]);
  });

  it('lists nodes with what they hold', async () => {
    const { node, gatekeeper } = cluster();
    const app = await node({ version: '1.2.3' });
    await app.tryAcquire('report');

    const { out } = await gatekeeper(['nodes']);

    const row = new RegExp(
      `^production +app1 +${app.node.instance.slice(0, 8)} .* ${process.pid} +nestjs-gatekeeper +1\\.2\\.3 .* report:0$`,
      'm',
    );
    expect(out).toMatch(row);
  });

  it('lists runs that go on, and those that crashed with the expiry of their permit', async () => {
    const { node, store, gatekeeper } = cluster();
    const app = await node();
    const dead = { group: 'production', acquirer: 'app9', instance: 'dead' };
    const at = Date.UTC(2026, 10, 21, 16, 40, 5);
    const start = { kind: 'start', semaphore: 'report', job: 'Jobs.report', node: dead, at, run: 1 };
    const entries = [start, { ...start, run: 2, token: 7, slot: 0, until: at + 90_000 }, { ...start, node: app.node }];
    await store
      .open({ callTimeout: 1000 })
      .journal('runs')
      .append(entries.map((entry) => JSON.stringify(entry)));

    const { out } = await gatekeeper(['history']);

    const [, ...rows] = out.trimEnd().split('\n');
    const words = rows.map((row) => row.split(/  +/).slice(3));
    expect(words).toEqual([
      ['production/app1', 'running', '-', '-'],
      ['production/app9', 'crashed', '-', '7', 'its node no longer lives; permit until 2026-11-21 16:41:35Z'],
      ['production/app9', 'crashed', '-', '-', expect.not.stringContaining('2026')],
    ]);
  });

  it('marks a holder that no living node has', async () => {
    const { node } = cluster();
    const app = await node();
    await app.tryAcquire('report');
    const { semaphores } = await app.overview('report');
    const frozen = semaphores.map((semaphore) => ({
      ...semaphore,
      holders: semaphore.holders.map((holder) => ({ ...holder, isUnheard: true as const })),
    }));
    expect(statusText(semaphores)).toMatch(/app1 \(1 min \d+ s\)/);
    expect(statusText(frozen)).toMatch(/app1 \(1 min \d+ s, not heard of\)/);
  });

  it('says what was removed, and whose definition counts', async () => {
    const { node } = cluster();
    const app = await node();
    await removed(app, 'report', { by: 'ann' });
    const { semaphores } = await app.overview('report');
    expect(statusText(semaphores)).toMatch(/^report +removed .*removed by ann.* reset to the code$/m);
    await app.definitions.reset('report');
    const [report] = (await app.overview('report')).semaphores;
    const remarkOf = (source: 'code' | 'operator') => statusText([{ ...report!, source, isOverridden: true }]);
    expect(remarkOf('operator')).toContain('overrides the code');
    expect(remarkOf('code')).toContain('from the code of other nodes');
  });

  it('lists a run that was skipped, with the reason', async () => {
    const { node, gatekeeper } = cluster();
    const app = await node();
    await app.definitions.pause('report', { by: 'bob', reason: 'ticket 4711' });
    await app.run('report', () => undefined, { job: 'Jobs.report' });
    await app.close();
    expect((await gatekeeper(['history', 'report'])).out).toMatch(/report +Jobs\.report .* skipped +- +- +paused$/m);
  });

  it('lists runs and changes of one semaphore or of all, the newest first', async () => {
    const { node, gatekeeper } = cluster();
    const app = await node();
    await app.run('report', () => 'done');
    await app.run('nightly-export', () => Promise.reject(new Error('disk full'))).catch(() => undefined);
    await app.definitions.edit('report', { permits: 3 }, { by: 'bob', reason: 'more of them' });
    // Closing sends what is still to be written.
    await app.close();

    const runs = await gatekeeper(['history']);
    expect(runs.out).toMatch(/nightly-export .* failed .* disk full\n.*report .* ok /);
    expect((await gatekeeper(['history', 'report'])).out).not.toContain('nightly-export');
    expect((await gatekeeper(['history', '--limit', '1'])).out).not.toContain('report');

    const changes = await gatekeeper(['audit', 'report']);
    expect(changes.out).toMatch(/ edit +report +bob +2 +permits 2 -> 3 +more of them$/m);
    expect((await gatekeeper(['audit', 'nightly-export'])).out).toBe('no changes\n');
  });

  it('ends with 6 without a quorum: the smaller side of a split may have answered', async () => {
    const { store, node, gatekeeper } = cluster();
    await node();
    const failing: StoreDefinition = {
      kind: 'failing',
      open: (options) => {
        const opened = store.open(options);
        opened.health = () => ({ connected: true, members: 1, quorum: 2, problem: 'one member of two' });
        return opened;
      },
    };
    for (const command of ['nodes', 'dump', 'leaders']) {
      const outcome = await gatekeeper([command], { open: over(failing) });
      expect(outcome).toMatchObject({ exitCode: 6, out: '' });
      expect(outcome.err).toMatch(/^gatekeeper: NOTHING .*Z: 1 .* 2 members /);
    }
    const status = await gatekeeper(['status'], { open: over(failing) });
    expect(status).toMatchObject({ exitCode: 6, out: expect.stringMatching(/^NOTHING .*\nNAME /) });
  });

  it('leaves no store open, whatever it comes to', async () => {
    const { store, node, gatekeeper } = cluster();
    await node();
    let stillOpen = 0;
    const counted: StoreDefinition = {
      kind: 'counted',
      open: (options) => {
        const opened = store.open(options);
        stillOpen++;
        const close = opened.close.bind(opened);
        opened.close = () => (stillOpen--, close());
        return opened;
      },
    };
    for (const [args, exitCode] of [
      [['status'], 0],
      [['status', 'nothing'], 3],
      [['edit', 'nothing', '--permits', '1'], 3],
    ] as const) {
      expect(await gatekeeper(args, { open: over(counted) })).toMatchObject({ exitCode });
      expect(stillOpen).toBe(0);
    }
  });

  it('never lets through what a terminal would obey', async () => {
    const { node, gatekeeper, store } = cluster();
    const app = await node();
    await app.definitions.pause('report', { by: 'bob', reason: 'REASON' });
    // Closing sends what is still to be written.
    await app.close();
    // No node would take such a reason: an older version did, or another program wrote it.
    const raw = store.open();
    const hostile = (text: string) => text.replaceAll('REASON', '\\u001B[2Jgone\\u001B]0;title\\u0007\\n\\u202Eecaep');
    const text = (await raw.records.read('semaphore:report'))!;
    await raw.records.compareAndSet('semaphore:report', text, hostile(text));
    const audit = raw.journal('audit');
    await audit.append((await audit.read(10)).map(hostile));
    await raw.close();

    for (const command of [['status'], ['audit'], ['explain', 'report', '--group', 'production']]) {
      const { out } = await gatekeeper(command);
      expect(out).toContain('gone');
      expect(out.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\u202E]/u);
    }
  });
});
