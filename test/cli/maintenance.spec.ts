import { openOperator } from '../../lib/cli/session/open-operator.js';
import { SETTINGS, TOKENS, useConsoles } from '../console/consoles.js';
import { until } from '../support/apps.js';
import { call } from './command-line.js';
import { useMemoryCluster } from './memory-cluster.js';

describe('maintenance on the command line', () => {
  const cluster = useMemoryCluster();
  const start = useConsoles();

  it('starts a window, counts down what is held, and ends it', async () => {
    const { node, gatekeeper } = cluster();
    const app = await node();
    const permit = (await app.tryAcquire('report'))!;
    expect((await gatekeeper(['maintenance', 'list'])).out).toBe('no maintenance windows\n');
    const started = await gatekeeper(['maintenance', 'start', 'db', '.*', '--reason', 'it moves']);
    expect(started).toEqual({
      exitCode: 0,
      out: expect.stringMatching(/^paused 2: nightly-export, report\n1 permit .*\n$/),
      err: '',
    });
    expect((await gatekeeper(['maintenance', 'list'])).out).toMatch(/db +\S+ \S+ +ann +\.\* +1 +1 permit /);
    expect((await gatekeeper(['maintenance', 'list', 'db'])).out).toMatch(
      /^db, by ann since .*: it moves\npaused 2: nightly-export, report\nstill held 1: report \(1\)\n1 permit/,
    );
    expect((await gatekeeper(['status'])).out).toMatch(
      /^maintenance db, by ann since \S+ \S+Z: it moves \(1 permit .*\)\nNAME /,
    );
    expect(JSON.parse((await gatekeeper(['status', '--json'])).out).maintenance).toMatchObject([{ window: 'db' }]);
    await app.release(permit);
    await app.definitions.resume('report', { by: 'cleo' });
    const ended = await gatekeeper(['maintenance', 'end', 'db']);
    expect(ended.exitCode).toBe(0);
    expect(ended.out).toMatch(/^resumed 1: nightly-export\nleft alone report: .*\(resume by "cleo" at .*\)\n$/);
    expect((await gatekeeper(['maintenance', 'end', 'db'])).exitCode).toBe(3);
  });

  it('leaves alone what was paused before, and says by whom and why', async () => {
    const { node, gatekeeper } = cluster();
    const app = await node();
    await app.definitions.pause('report', { by: 'bob', reason: 'broken' });
    const { exitCode, out } = await gatekeeper(['maintenance', 'start', 'db', '.*', '--reason', 'it moves']);
    expect(exitCode).toBe(0);
    expect(out).toMatch(/^paused 1: nightly-export\nleft alone report: .* by "bob" at \S+Z: broken\n.+\n$/);
    expect((await gatekeeper(['maintenance', 'end', 'db'])).out).toBe('resumed 1: nightly-export\n');
    expect((await app.definitions.get('report'))?.pause?.by).toBe('bob');
  });

  it('does not hide the status if the record of the windows can not be read', async () => {
    const { store, node, gatekeeper } = cluster();
    await node();
    const raw = store.open();
    const key = 'change-sets:root';
    await raw.records.compareAndSet(key, await raw.records.read(key), 'rubbish');
    const { exitCode, out, err } = await gatekeeper(['status']);
    expect([exitCode, err]).toEqual([0, expect.stringMatching(/^maintenance windows can't be read: .*maintenance/)]);
    expect(out).toMatch(/^NAME .*\nnightly-export /);
    expect(JSON.parse((await gatekeeper(['status', '--json'])).out)).not.toHaveProperty('maintenance');
    await raw.close();
  });

  it('prints JSON', async () => {
    const { node, gatekeeper } = cluster();
    await node();
    const json = async (...args: string[]) => JSON.parse((await gatekeeper(['maintenance', ...args, '--json'])).out);
    const names = ['nightly-export', 'report'];
    expect(await json('start', 'db', 'nightly.*', 'report')).toEqual({
      window: 'db',
      paused: names,
      shared: [],
      left: [],
      failed: [],
      remaining: 0,
      permits: 0,
      isQuiet: true,
      sentence: expect.any(String),
      undo: expect.any(String),
    });
    expect(await json('list')).toMatchObject({ windows: [{ window: 'db', semaphores: names }] });
    expect(await json('list', 'db')).toMatchObject({ window: 'db', patterns: ['nightly.*', 'report'], isQuiet: true });
    expect(await json('end', 'db', '--dry-run')).toEqual({ dryRun: true, window: 'db', resumed: names, left: [] });
    expect(await json('end', 'db')).toMatchObject({ window: 'db', resumed: names, left: [], failed: [], remaining: 0 });
  });

  it('asks first on a terminal, and pauses nothing without a yes', async () => {
    const { node, gatekeeper } = cluster();
    const app = await node();
    const asked: string[] = [];
    const ask = async (question: string) => {
      asked.push(question);
      return false;
    };
    expect((await gatekeeper(['maintenance', 'start', 'db', '.*'], { ask })).exitCode).toBe(1);
    expect(asked).toEqual(['start maintenance db and pause 2: nightly-export, report?']);
    expect(await app.definitions.maintenance.list()).toEqual([]);
    expect((await gatekeeper(['maintenance', 'start', 'db', 'none', '--dry-run'])).exitCode).toBe(3);
    expect((await gatekeeper(['maintenance', 'start', 'db', '('])).exitCode).toBe(2);
  });

  it('does the same over HTTP', async () => {
    const { url, gatekeeper: app } = await start({
      platform: 'Express',
      gatekeeper: { definitions: [{ name: 'report', duration: '10s' }] },
      console: SETTINGS,
    });
    await until(async () => (await app.state()).semaphores.length === 1);
    const over = (...args: string[]) =>
      call(['maintenance', ...args, '--url', url, '--token', TOKENS.operate], { open: openOperator });
    expect((await over('start', 'db 1', '.*', '--yes')).out).toMatch(/^paused 1: report\n.+\n$/);
    expect((await over('start', 'db 1', 'report')).exitCode).toBe(4);
    expect((await over('list')).out).toMatch(/^db 1 .* otto +\.\* +0 +\S/m);
    expect((await over('end', 'db 1')).out).toBe('resumed 1: report\n');
    expect((await over('list', 'db 1')).exitCode).toBe(3);
  });
});
