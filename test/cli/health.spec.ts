import { NoQuorumError, StoreUnavailableError } from 'nestjs-gatekeeper';
import { openOperator } from '../../lib/cli/session/open-operator.js';
import { TOKENS, useConsoles } from '../console/consoles.js';
import { LOST, TOO_FEW, failingStore } from '../console/failing-store.js';
import { until } from '../support/apps.js';
import { ScriptedStore } from '../support/scripted-store.js';
import { call, commandLine } from './command-line.js';
import { useMemoryCluster } from './memory-cluster.js';

const DEFINITIONS = [{ name: 'report', duration: '90s' }];

describe('the command line over HTTP', () => {
  const start = useConsoles();
  const startFailing = async () => {
    const store = failingStore();
    const gatekeeper = { definitions: DEFINITIONS, clockTolerance: 500 };
    const { url, get } = await start({ store: store.definition, gatekeeper });
    await get('/api/nodes');
    // Clocks count as suspect until all have been read.
    await until(async () => (await get('/api/health')).json.status === 'healthy');
    const run = (...args: string[]) =>
      call([...args, '--url', url, '--token', TOKENS.define], { open: openOperator, env: {} });
    return { store, run };
  };

  it('health ends with 0 while all is well', async () => {
    const { run } = await startFailing();
    const { exitCode, out } = await run('health');
    expect(exitCode).toBe(0);
    expect(out).toMatch(
      /^health {3}healthy\nnode {5}default\/app1\nstore {4}connected, members 1, quorum 0\nlatency {2}[\d.]+ ms, median of the last calls\nclocks {3}1 read, 0ms apart\noffset {3}this node \d+ms (ahead|behind), known to [\d.]+ms\nnodes {4}1, counted /,
    );
  });

  it('says of a dead store what is wrong, since when, how old what is shown is, and ends with 6', async () => {
    const { store, run } = await startFailing();
    store.takeAway();
    const time = String.raw`\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ`;
    const health = await run('health');
    expect(health.exitCode).toBe(6);
    expect(health.out).toMatch(/^health {3}down: nothing is granted\n/);
    expect(health.out).toMatch(
      new RegExp(
        `^shown    semaphores as of ${time}\nshown    nodes as of ${time}\nshown    .*runs.*\nshown    nothing is known about the changes$`,
        'm',
      ),
    );
    expect(health.out).toMatch(new RegExp(`^store-unreachable  ${time} \\(.* ago\\)  .*${LOST}`, 'm'));
    const status = await run('status');
    expect(status.exitCode).toBe(6);
    expect(status.out).toMatch(new RegExp(`^NOTHING IS GRANTED since ${time}: .*${LOST}.* as of ${time}\\.\n`));
    expect(status.out).toContain('report');
    expect(JSON.parse((await run('status', '--json')).out)).toMatchObject({
      health: { status: 'down', grants: false },
      semaphores: [{ name: 'report' }],
    });
    const explained = await run('explain', 'report');
    expect(explained.exitCode).toBe(6);
    expect(explained.out).toMatch(new RegExp(`^report: .*${LOST}`));
    for (const args of [['nodes'], ['dump'], ['pause', 'report'], ['resume', '.*'], ['audit']]) {
      const outcome = await run(...args);
      expect({ args, ...outcome }).toMatchObject({ exitCode: 6, out: '' });
      expect(outcome.err).toMatch(new RegExp(`^gatekeeper: .*${LOST}`));
    }
    store.giveBack();
    expect((await run('status')).exitCode).toBe(0);
  });

  it('says of a lost quorum that nothing is granted, and pauses nothing', async () => {
    const { store, run } = await startFailing();
    store.loseQuorum();
    expect((await run('health')).exitCode).toBe(6);
    const status = await run('status');
    expect([status.exitCode, status.out]).toEqual([6, expect.stringMatching(/^NOTHING .*\nNAME .*\nreport /)]);
    expect(JSON.parse((await run('status', '--json')).out).health.faults).toMatchObject([{ code: 'no-quorum' }]);
    const explained = await run('explain', 'report', '--json');
    expect(explained.exitCode).toBe(6);
    expect(JSON.parse(explained.out)).toMatchObject({ outcome: 'denied', reason: 'no-quorum' });
    expect(await run('pause', '.*')).toEqual({ exitCode: 6, out: '', err: expect.stringContaining(TOO_FEW) });
    store.giveBack();
  });
});

describe('the command line straight over a store', () => {
  const cluster = useMemoryCluster();

  it('health ends with 0, and does not take its own late arrival for a fault', async () => {
    const { node, gatekeeper } = cluster();
    await node();
    expect(await gatekeeper(['health'])).toMatchObject({ exitCode: 0, err: '' });
    expect(JSON.parse((await gatekeeper(['health', '--json'])).out)).toMatchObject({ status: 'healthy', faults: [] });
  });

  it('a pause that every semaphore refuses says so, and not that all are paused already', async () => {
    const { node, store } = cluster();
    await node();
    const refusing = new ScriptedStore(store.open());
    refusing.script = (asked, go) => (asked === 'compareAndSet' ? Promise.reject(new NoQuorumError(TOO_FEW)) : go());
    const { exitCode, out, err } = await commandLine({ kind: 'refusing', open: () => refusing })(['pause', '.*']);
    expect({ exitCode, out }).toEqual({ exitCode: 6, out: '' });
    expect(err).toContain(TOO_FEW);
  });

  it('a store that stops answering is an error of status, too', async () => {
    const { node, store } = cluster();
    await node();
    const dying = new ScriptedStore(store.open());
    dying.script = () => Promise.reject(new StoreUnavailableError('away'));
    const { exitCode, err } = await commandLine({ kind: 'dying', open: () => dying })(['status']);
    expect([exitCode, err]).toEqual([6, expect.stringMatching(/^gatekeeper: .*\baway\n$/)]);
  });

  it.each([
    [['health'], /^health +down: nothing is granted\n[^]*^shown +nothing is known about the semaphores$/m],
    [['explain', 'report'], /^report: nothing is granted: .*\n[^]*^shown +as this node last knew it$/m],
  ])('a store that stops answering is shown by %s, which asks why', async (args, shown) => {
    const { node, store } = cluster();
    await node();
    const dying = new ScriptedStore(store.open());
    dying.script = () => Promise.reject(new StoreUnavailableError('away'));
    const outcome = await commandLine({ kind: 'dying', open: () => dying })(args);
    expect(outcome).toEqual({ exitCode: 6, out: expect.stringMatching(shown), err: '' });
  });

  it('explain of what is paused says by whom and why, and not the pattern that matches nothing', async () => {
    const { node, gatekeeper } = cluster();
    await node();
    await gatekeeper(['pause', 'report', '--reason', 'the database moves']);
    const { out } = await gatekeeper(['explain', 'report', '--group', 'production']);
    expect(out).toMatch(/^report: .* by ann .*: the database moves$/m);
    expect(out).toMatch(/^paused +by ann, \S+ \S+Z: the database moves$/m);
    expect(out).toMatch(/^group +production$/m);
  });
});
