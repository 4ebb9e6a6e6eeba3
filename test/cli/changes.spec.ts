import type { Gatekeeper } from 'nestjs-gatekeeper';
import { useMemoryCluster } from './memory-cluster.js';

describe('what the command line changes', () => {
  const cluster = useMemoryCluster();

  const definitionOf = async (app: Gatekeeper, name: string) => (await app.definitions.get(name))?.definition;

  it('defines a semaphore, once, and tells who did', async () => {
    const { node, gatekeeper } = cluster();
    const app = await node();
    const define = () =>
      gatekeeper(['define', 'import', '--duration', '5m', '--permits', '3', '--group', 'prod.*', '--reason', 'new']);

    const defined = await define();

    expect(defined).toEqual({
      exitCode: 0,
      out: 'import: revision 1, permits 3, duration 5m, group /prod.*/, acquirer /.*/\n',
      err: '',
    });
    expect(await app.definitions.get('import')).toMatchObject({
      definition: { name: 'import', permits: 3, duration: 300_000, groupPattern: 'prod.*', acquirerPattern: '.*' },
      change: { kind: 'define', by: 'ann', reason: 'new' },
    });
    const again = await define();
    expect(again).toMatchObject({ exitCode: 4, out: '' });
    expect(again.err).toMatch(/^gatekeeper: semaphore "import" is defined already \(revision 1\): .*\n$/);
  });

  it('does not define what has a reserved name', async () => {
    const { node, gatekeeper } = cluster();
    await node();
    const { exitCode, err } = await gatekeeper(['define', 'leader:main', '--duration', '5m']);
    expect([exitCode, err]).toEqual([2, expect.stringContaining('the prefix "leader:" is reserved')]);
  });

  it('edits only what is given', async () => {
    const { node, gatekeeper } = cluster();
    const app = await node();

    const { exitCode } = await gatekeeper(['edit', 'report', '--duration', '2m', '--acquirer', 'app[34]']);

    expect(exitCode).toBe(0);
    expect(await definitionOf(app, 'report')).toEqual({
      name: 'report',
      groupPattern: 'production',
      acquirerPattern: 'app[34]',
      permits: 2,
      duration: 120_000,
    });
  });

  it('refuses an edit of another revision than expected, and says who was faster', async () => {
    const { node, gatekeeper } = cluster();
    const app = await node();
    await app.definitions.edit('report', { permits: 5 }, { by: 'bob' });

    const edit = await gatekeeper(['edit', 'report', '--permits', '1', '--expected-revision', '1']);

    expect(edit.exitCode).toBe(4);
    expect(edit.err).toMatch(/revision 2 \(edit by "bob" /);
    expect((await definitionOf(app, 'report'))?.permits).toBe(5);
  });

  it('pauses and resumes all that match, with the reason, and what is so already is no error', async () => {
    const { node, gatekeeper } = cluster();
    const app = await node();

    const paused = await gatekeeper(['pause', '.*', '--reason', 'maintenance', '--json']);

    expect(JSON.parse(paused.out)).toEqual({
      paused: ['nightly-export', 'report'],
      failed: [],
      undo: expect.any(String),
    });
    expect((await app.definitions.get('report'))?.pause).toMatchObject({ by: 'ann', reason: 'maintenance' });
    expect(await app.tryAcquire('report')).toBeUndefined();
    const again = await gatekeeper(['pause', 'report']);
    expect(again).toEqual({ exitCode: 0, out: 'nothing to do: all matching semaphores are paused already\n', err: '' });

    expect((await gatekeeper(['resume', 'report'])).out).toBe('resumed 1: report\n');
    expect(await app.tryAcquire('report')).toBeDefined();
    expect((await app.definitions.get('nightly-export'))?.pause).toBeDefined();
  });

  it('ends with 3 when nothing matches, or there is no such semaphore, definition in code or permit', async () => {
    const { node, gatekeeper } = cluster();
    await node();
    for (const args of [
      ['pause', 'nothing'],
      ['resume', 'nothing'],
      ['edit', 'nothing', '--permits', '1'],
      ['remove', 'nothing'],
      ['reset', 'report'],
      ['revoke', 'report', 'no-such-permit'],
      ['revoke', 'nothing', 'no-such-permit'],
    ]) {
      const { exitCode, out, err } = await gatekeeper(args);
      expect({ args, exitCode, out }).toEqual({ args, exitCode: 3, out: '' });
      expect(err).toMatch(/^gatekeeper: .+\n$/);
    }
  });

  it('revokes a permit: its signal aborts', async () => {
    const { node, gatekeeper } = cluster();
    const app = await node();
    const permit = (await app.tryAcquire('report'))!;

    const { exitCode, out } = await gatekeeper(['revoke', 'report', permit.id, '--reason', 'it hangs']);

    expect({ exitCode, out }).toEqual({ exitCode: 0, out: `report: revoked ${permit.id}\n` });
    if (!permit.signal.aborted) {
      await new Promise((resolve) => permit.signal.addEventListener('abort', resolve, { once: true }));
    }
    expect(() => permit.assertHeld()).toThrow(/revoked/);
  });

  it('takes names that look like options behind two dashes', async () => {
    const { node, gatekeeper } = cluster();
    await node({ definitions: [{ name: '--help', duration: '5m' }] });
    expect((await gatekeeper(['edit', '--permits', '3', '--', '--help'])).out).toMatch(
      /^--help: revision 2, permits 3/,
    );
    expect((await gatekeeper(['revoke', 'report', '-abc'])).err).toMatch(/after "--"/);
    expect((await gatekeeper(['revoke', '--', 'report', '-abc'])).err).toMatch(/no permit "-abc"/);
  });

  it('removes a definition', async () => {
    const { node, gatekeeper } = cluster();
    const app = await node();
    await app.definitions.define({ name: 'by-hand', duration: '5m' });

    expect(await gatekeeper(['remove', 'by-hand'])).toEqual({ exitCode: 0, out: 'by-hand: removed\n', err: '' });

    expect(await app.definitions.get('by-hand')).toBeUndefined();
    expect((await gatekeeper(['status', 'by-hand'])).exitCode).toBe(3);
  });

  it('does not remove what the code of a living node defines, and says what to do', async () => {
    const { node, gatekeeper } = cluster();
    const app = await node();
    const { exitCode, err } = await gatekeeper(['remove', 'report']);
    expect(exitCode).toBe(4);
    expect(err).toContain('pause it, or remove it from the code');
    expect(await app.definitions.get('report')).toBeDefined();
  });

  it('resets no names without a node whose code has them', async () => {
    const { node, gatekeeper } = cluster();
    await node();
    expect(await gatekeeper(['reset', 'rep.*', '--yes'])).toMatchObject({
      exitCode: 3,
      err: expect.stringContaining('ask a node whose code does'),
    });
  });

  it("removes a semaphore whose record can't be read", async () => {
    const { store, node, gatekeeper } = cluster();
    const app = await node();
    await app.definitions.define({ name: 'by-hand', duration: '5m' });
    const raw = store.open();
    await raw.records.compareAndSet('semaphore:by-hand', await raw.records.read('semaphore:by-hand'), 'damaged');
    expect(await gatekeeper(['remove', 'by-hand'])).toMatchObject({ exitCode: 0, out: 'by-hand: removed\n' });
    expect(await app.definitions.get('by-hand')).toBeUndefined();
  });

  it("never drops another's permit by its own clock: it has only just come", async () => {
    const { store, node, gatekeeper } = cluster();
    const app = await node({ clockTolerance: '20s', definitions: [{ name: 'slow', duration: '61s' }] });
    const permit = (await app.tryAcquire('slow'))!;
    const key = 'semaphore:slow';
    const raw = store.open();
    const text = (await raw.records.read(key))!;
    // Over by cluster time, but not yet by the application's tolerance.
    const expiresAt = Date.now() - 5000;
    const record = JSON.parse(text);
    record.permits[0].expiresAt = expiresAt;
    await raw.records.compareAndSet(key, text, JSON.stringify(record), { notify: 'none' });
    await raw.close();

    await gatekeeper(['edit', 'slow', '--permits', '2']);

    const { semaphores } = await app.state();
    expect(semaphores[0]?.holders.map(({ id }) => id)).toEqual([permit.id]);
  });
});
