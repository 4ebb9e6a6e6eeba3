import { type Opening, call } from './command-line.js';
import { openOperator } from '../../lib/cli/session/open-operator.js';
import { SETTINGS, TOKENS, useConsoles } from '../console/consoles.js';
import { until } from '../support/apps.js';
import { useMemoryCluster } from './memory-cluster.js';

describe('the undo on the command line', () => {
  const cluster = useMemoryCluster();
  const start = useConsoles();

  it('shows its plan, and with -y undoes', async () => {
    const { node, gatekeeper } = cluster();
    const app = await node();
    await gatekeeper(['edit', 'report', '--permits', '5']);
    const [{ id }] = JSON.parse((await gatekeeper(['audit', '--json'])).out).entries;
    expect((await gatekeeper(['audit'])).out).toContain(id);

    const plan = await gatekeeper(['undo', id]);
    expect(plan).toMatchObject({ exitCode: 0, err: '' });
    expect(plan.out).toMatch(/report +edit +edit +permits 5 -> 2\n1 to undo; nothing was changed: add --yes/);
    expect((await app.definitions.get('report'))?.definition.permits).toBe(5);

    expect(await gatekeeper(['undo', id, '-y', '--reason', 'oops'])).toEqual({
      exitCode: 0,
      out: 'undone 1: report\n',
      err: '',
    });
    expect(await app.definitions.get('report')).toMatchObject({
      definition: { permits: 2 },
      change: { by: 'ann', reason: 'oops' },
    });
  });

  it('undoes a change of many by its one id, and names what it left alone', async () => {
    const { node, gatekeeper } = cluster();
    const app = await node();
    const { undo } = JSON.parse((await gatekeeper(['pause', '.*', '--json'])).out);
    await app.definitions.edit('report', { permits: 5 }, { by: 'cleo' });
    expect((await gatekeeper(['undo', undo])).out).toContain('left alone: changed since (edit by "cleo"');
    const outcome = await gatekeeper(['undo', undo, '--yes']);
    expect(outcome.exitCode).toBe(4);
    expect(outcome.out).toMatch(
      /^undone 1: nightly-export\nleft alone report: changed since \(edit by "cleo" at .*\)\n$/,
    );
    expect((await app.definitions.get('report'))?.pause).toBeDefined();
  });

  it('undoes all of a change of many that the log has dropped', async () => {
    const { store, node, gatekeeper } = cluster();
    await node();
    const { undo } = JSON.parse((await gatekeeper(['pause', '.*', '--json'])).out);
    await store
      .open()
      .journal('audit')
      .append(Array.from({ length: 10_000 }, () => '{}'));
    expect(await gatekeeper(['undo', undo, '--yes'])).toEqual({
      exitCode: 0,
      out: 'undone 2: nightly-export, report\n',
      err: '',
    });
  });

  it('ends with 1 if the store has lost parts of a change of many, and says how many', async () => {
    const { store, node, gatekeeper } = cluster();
    const app = await node();
    const { bulk } = await app.definitions.pauseAll({ names: 'report' });
    await app.definitions.pauseAll({ bulk });
    const { records } = store.open();
    const page = 'change-sets:page/0';
    await records.compareAndSet(page, await records.read(page), 'lost');
    const missing = expect.stringMatching(/^gatekeeper: the store has lost 1 part of this change/m);
    expect(await gatekeeper(['undo', bulk])).toMatchObject({ exitCode: 1, err: missing });
    const outcome = await gatekeeper(['undo', bulk, '--yes', '--json']);
    expect(outcome).toMatchObject({ exitCode: 1, err: missing });
    expect(JSON.parse(outcome.out)).toMatchObject({
      undone: ['nightly-export'],
      left: [],
      failed: [],
      remaining: 0,
      missing: 1,
    });
    expect((await app.definitions.get('report'))?.pause).toBeDefined();
  });

  it('ends with 4 if the definition has changed since, and with 3 for an unknown id', async () => {
    const { node, gatekeeper } = cluster();
    const app = await node();
    await gatekeeper(['edit', 'report', '--permits', '5']);
    const [{ id }] = JSON.parse((await gatekeeper(['audit', '--json'])).out).entries;
    await app.definitions.edit('report', { permits: 6 }, { by: 'cleo' });
    const refused = await gatekeeper(['undo', id, '--yes']);
    expect({ exitCode: refused.exitCode, out: refused.out }).toEqual({ exitCode: 4, out: '' });
    expect(refused.err).toMatch(/edit by "cleo" at /);
    expect((await gatekeeper(['undo', 'none.1'])).exitCode).toBe(3);
  });

  it('says the same over HTTP', async () => {
    const { url, gatekeeper: app } = await start({
      platform: 'Express',
      gatekeeper: { definitions: [{ name: 'report', duration: '10s' }] },
      console: SETTINGS,
    });
    const open: Opening = openOperator;
    const over = (...args: string[]) => call([...args, '--url', url, '--token', TOKENS.define], { open });
    await until(async () => (await app.state()).semaphores.length === 1);
    const { undo } = JSON.parse((await over('pause', 'report', '--json')).out);
    await until(async () => (await app.audit.read(10)).length === 1);
    expect((await over('undo', undo)).out).toContain('no longer paused');
    expect((await over('undo', undo, '--yes')).out).toBe('undone 1: report\n');
    expect((await over('undo', undo, '--yes')).out).toBe('nothing was undone\n');
    expect((await over('undo', 'none.1', '--yes')).exitCode).toBe(3);
  });
});
