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

  it('ends with 1 if the log has dropped parts of a change of many, and says how many', async () => {
    const { store, node, gatekeeper } = cluster();
    const app = await node();
    const { undo } = JSON.parse((await gatekeeper(['pause', '.*', '--json'])).out);
    await store
      .open()
      .journal('audit')
      .append(Array.from({ length: 9999 }, () => '{}'));
    const missing = expect.stringMatching(/^gatekeeper: the audit log no longer has 1 part of this change/m);
    expect(await gatekeeper(['undo', undo])).toMatchObject({ exitCode: 1, err: missing });
    const outcome = await gatekeeper(['undo', undo, '--yes', '--json']);
    expect(outcome).toMatchObject({ exitCode: 1, err: missing });
    const { undone } = JSON.parse(outcome.out);
    expect(JSON.parse(outcome.out)).toMatchObject({ left: [], failed: [], remaining: 0, missing: 1 });
    const states = await Promise.all(['nightly-export', 'report'].map((name) => app.definitions.get(name)));
    expect(states.flatMap((state) => (state?.pause ? [] : [state!.definition.name]))).toEqual(undone);
    expect(undone).toHaveLength(1);
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
