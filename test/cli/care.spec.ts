import { useMemoryCluster } from './memory-cluster.js';

/** What `pause .* --dry-run` prints where it would only pause `nightly-export`. */
const PLAN_OF_ONE = 'would pause 1: nightly-export; nothing was changed\n';

/** A person who gives one answer to everything. */
function person(answer: boolean) {
  const asked: string[] = [];
  return {
    asked,
    ask: async (question: string) => {
      asked.push(question);
      return answer;
    },
  };
}

describe('care before harm', () => {
  const cluster = useMemoryCluster();

  it('shows with --dry-run whom a pause would stop, and stops nothing', async () => {
    const { node, gatekeeper } = cluster();
    const app = await node();
    await app.definitions.pause('report', { by: 'bob' });

    const { exitCode, out } = await gatekeeper(['pause', '.*', '--dry-run']);
    expect({ exitCode, out }).toEqual({ exitCode: 0, out: PLAN_OF_ONE });
    const asJson = JSON.parse((await gatekeeper(['resume', '.*', '--dry-run', '--json'])).out);
    expect(asJson).toEqual({ dryRun: true, resumed: ['report'] });
    expect((await app.definitions.get('nightly-export'))?.revision).toBe(1);
  });

  it('shows and asks only about what would change: no name on demand, unless it is exactly the pattern', async () => {
    const { node, gatekeeper } = cluster();
    const app = await node();
    await app.tryAcquire('tenant-1', { duration: '60s' });
    const both = ['nightly-export', 'report'];
    const planOf = async (...args: string[]) => JSON.parse((await gatekeeper([...args, '--dry-run', '--json'])).out);
    expect(await planOf('pause', '.*')).toEqual({ dryRun: true, paused: both });
    expect(await planOf('pause', 'tenant-1')).toEqual({ dryRun: true, paused: ['tenant-1'] });
    expect(await planOf('maintenance', 'start', 'db', '.*')).toMatchObject({ dryRun: true, paused: both });
    for (const args of [
      ['pause', 'tenant-.'],
      ['maintenance', 'start', 'db', 'tenant-1'],
    ]) {
      expect([await gatekeeper([...args, '--dry-run']), await gatekeeper(args)]).toMatchObject([
        { exitCode: 3 },
        { exitCode: 3 },
      ]);
    }
    const careful = person(true);
    const paused = await gatekeeper(['pause', '.*', '--json'], { ask: careful.ask });
    expect(careful.asked).toEqual(['pause 2: nightly-export, report?']);
    expect(JSON.parse(paused.out)).toMatchObject({ paused: both });
  });

  it('finds with --dry-run that a pattern matches nothing', async () => {
    const { node, gatekeeper } = cluster();
    await node();
    const { exitCode, err } = await gatekeeper(['pause', 'nightly', '--dry-run']);
    expect(exitCode).toBe(3);
    expect(err).toContain('"nightly"');
  });

  it('shows with --dry-run what can not be read, because a pause would not stop it', async () => {
    const { store, node, gatekeeper } = cluster();
    const app = await node();
    const records = store.open();
    const key = 'semaphore:report';
    await records.records.compareAndSet(key, await records.records.read(key), '{"v":99}');
    const { exitCode, out, err } = await gatekeeper(['pause', '.*', '--dry-run']);
    expect({ exitCode, out }).toEqual({ exitCode: 0, out: PLAN_OF_ONE });
    const said = expect.stringMatching(/^gatekeeper: report: .*version 99/m);
    expect(err).toEqual(said);
    expect(await gatekeeper(['migrate', '--to-group', 'dr'])).toMatchObject({ exitCode: 0, err: said });
    const paused = await gatekeeper(['pause', '.*']);
    expect(paused).toEqual({ exitCode: 1, out: 'paused 1: nightly-export\n', err: said });
    expect(await gatekeeper(['pause', 'report'])).toEqual({ exitCode: 1, out: 'paused none\n', err: said });
    expect((await app.definitions.get('nightly-export'))?.pause).toBeDefined();
  });

  it('asks on a terminal before it pauses several, and does nothing without a yes', async () => {
    const { node, gatekeeper } = cluster();
    const app = await node();
    const careful = person(false);
    const { exitCode, out, err } = await gatekeeper(['pause', '.*'], { ask: careful.ask });

    expect({ exitCode, out, err }).toEqual({ exitCode: 1, out: '', err: 'gatekeeper: nothing was changed\n' });
    expect(careful.asked).toEqual(['pause 2: nightly-export, report?']);
    expect((await app.state()).semaphores.map(({ pause }) => pause)).toEqual([undefined, undefined]);

    expect((await gatekeeper(['pause', '.*'], { ask: person(true).ask })).out).toBe(
      'paused 2: nightly-export, report\n',
    );
  });

  it('asks nothing for one semaphore, with --yes, or without a terminal', async () => {
    const { node, gatekeeper } = cluster();
    await node();
    const careful = person(false);
    expect((await gatekeeper(['pause', 'report'], { ask: careful.ask })).out).toBe('paused 1: report\n');
    expect((await gatekeeper(['resume', '.*', '--yes'], { ask: careful.ask })).out).toBe('resumed 1: report\n');
    expect((await gatekeeper(['pause', '.*'])).out).toBe('paused 2: nightly-export, report\n');
    expect(careful.asked).toEqual([]);
  });

  it('names before a removal those who lose their permits', async () => {
    const { node, gatekeeper } = cluster();
    const app = await node();
    await app.definitions.define({ name: 'by-hand', duration: '5m' });
    const permit = (await app.tryAcquire('by-hand'))!;
    const careful = person(false);

    expect((await gatekeeper(['remove', 'by-hand'], { ask: careful.ask })).exitCode).toBe(1);
    expect(careful.asked).toEqual([
      expect.stringMatching(/^remove by-hand and 1 held: \S+ of production\/app1, until .*\?$/),
    ]);
    const { out } = await gatekeeper(['remove', 'by-hand', '--dry-run', '--json']);
    expect(JSON.parse(out)).toMatchObject({ dryRun: true, removed: 'by-hand', holders: [{ id: permit.id }] });
    expect(permit.isHeld).toBe(true);

    expect((await gatekeeper(['remove', 'by-hand', '--yes'], { ask: careful.ask })).out).toBe('by-hand: removed\n');
  });

  it('revokes without an id where one permit is held', async () => {
    const { node, gatekeeper } = cluster();
    const app = await node();
    const { id } = (await app.tryAcquire('report'))!;

    const dry = await gatekeeper(['revoke', 'report', '--dry-run']);
    expect(dry.out).toMatch(new RegExp(`^would revoke report: ${id} of production/app1, until .*; .+\n$`));
    expect((await gatekeeper(['revoke', 'report'])).out).toBe(`report: revoked ${id}\n`);
    const again = await gatekeeper(['revoke', 'report']);
    expect(again.exitCode).toBe(3);
    expect(again.err).toContain('no permit of "report" is held');
  });

  it('asks which one where several are held', async () => {
    const { node, gatekeeper } = cluster();
    const [one, other] = [await node(), await node({ acquirer: 'app2' })];
    const ids = [(await one.tryAcquire('report'))!.id, (await other.tryAcquire('report'))!.id];

    const { exitCode, err } = await gatekeeper(['revoke', 'report']);
    expect(exitCode).toBe(4);
    for (const id of ids) expect(err).toContain(id);
    expect((await gatekeeper(['revoke', 'report', ids[1]!])).out).toBe(`report: revoked ${ids[1]}\n`);
  });
});
