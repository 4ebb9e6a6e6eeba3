import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type StoreDefinition, StoreUnavailableError } from 'nestjs-gatekeeper';
import { eventually } from '../contract/eventually.js';
import { OPERATIONS } from '../../lib/cli/operator/operator.js';
import { type Opening, answering, over } from './command-line.js';
import { removed } from '../support/removed.js';
import { DEFINITIONS, type TestCluster, useMemoryCluster } from './memory-cluster.js';

describe('dump and load', () => {
  const cluster = useMemoryCluster();
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'gatekeeper-dump-'));
  });
  afterAll(() => rm(folder, { recursive: true }));

  const saved = async (dump: string) => {
    const path = join(folder, 'dump.json');
    await writeFile(path, dump);
    return path;
  };

  it('dumps all definitions without their pauses, and the authors of the pauses', async () => {
    const { node, gatekeeper } = cluster();
    const app = await node();
    await app.tryAcquire('nightly-export');
    await app.definitions.pause('report', { by: 'bob', reason: 'maintenance' });

    const { out, exitCode } = await gatekeeper(['dump']);

    expect(exitCode).toBe(0);
    expect(JSON.parse(out)).toEqual({
      version: 1,
      at: expect.any(Number),
      semaphores: [
        { ...DEFINITIONS[0], permits: 1, duration: 600_000 },
        {
          ...DEFINITIONS[1],
          acquirerPattern: '.*',
          duration: 90_000,
          pause: { by: 'bob', at: expect.any(Number), reason: 'maintenance' },
        },
      ],
    });
  });

  it('leaves out names on demand, which a load would define for good, but not what an operator made of one', async () => {
    const { node, gatekeeper } = cluster();
    const app = await node();
    for (const name of ['tenant-1', 'tenant-2']) await app.tryAcquire(name, { duration: '60s' });
    await app.definitions.edit('tenant-2', { permits: 2 });
    const { out } = await gatekeeper(['dump']);
    const names = JSON.parse(out).semaphores.map(({ name }: { name: string }) => name);
    expect(names).toEqual(['nightly-export', 'report', 'tenant-2']);
    const other = cluster();
    const target = await other.node();
    expect(await other.gatekeeper(['load', await saved(out), '--yes'])).toMatchObject({ exitCode: 0 });
    expect(await target.definitions.get('tenant-1')).toBeUndefined();
  });

  it('brings back what was edited, paused, resumed and removed since, and leaves what is new', async () => {
    const { node, gatekeeper } = cluster();
    const app = await node({
      definitions: ['edited', 'paused', 'resumed', 'removed', 'same'].map((name) => ({ name, duration: '5m' })),
    });
    await app.definitions.pause('resumed', { by: 'bob', reason: 'broken' });
    const path = await saved((await gatekeeper(['dump'])).out);
    await app.definitions.edit('edited', { permits: 4, groupPattern: 'a' });
    await app.definitions.pause('paused');
    await app.definitions.resume('resumed');
    await removed(app, 'removed');
    await app.definitions.define({ name: 'new', duration: '1m' });

    const planned = await gatekeeper(['load', path]);

    expect(planned.out.split('\n')).toEqual([
      'NAME     ACTION  CHANGE',
      'edited   edit    permits 4 -> 1, groupPattern a -> .*',
      'paused   resume  -',
      'removed  define  permits 1, duration 5m, groupPattern .*, acquirerPattern .*',
      'resumed  pause   -',
      '4 to load; nothing was changed: add --yes to make the changes',
      '',
    ]);
    expect((await app.definitions.get('edited'))?.definition.permits).toBe(4);

    const loaded = await gatekeeper(['load', path, '--yes']);

    expect(loaded).toEqual({ exitCode: 0, out: 'loaded 4\n', err: '' });
    expect((await app.definitions.get('resumed'))?.pause).toMatchObject({ by: 'ann', reason: 'broken' });
    expect((await app.definitions.get('new'))?.definition.duration).toBe(60_000);
    expect((await gatekeeper(['load', path])).out).toBe('nothing to load: the cluster matches the dump already\n');
  });

  it('loads into a cluster that has nothing', async () => {
    const { node, gatekeeper } = cluster();
    await node();
    const path = await saved((await gatekeeper(['dump'])).out);
    const empty = cluster().gatekeeper;

    expect((await empty(['load', path, '--yes', '--json'])).exitCode).toBe(0);

    const { semaphores } = JSON.parse((await empty(['dump'])).out);
    expect(semaphores).toEqual(JSON.parse((await gatekeeper(['dump'])).out).semaphores);
  });

  it('names what it can not read, and ends with 1: the backup is incomplete', async () => {
    const { store, node, gatekeeper } = cluster();
    await node();
    const records = store.open();
    await records.records.compareAndSet(
      'semaphore:report',
      (await records.records.read('semaphore:report'))!,
      '{"broken',
    );

    const { exitCode, out, err } = await gatekeeper(['dump']);

    expect({ exitCode, names: namesIn(out) }).toEqual({ exitCode: 1, names: ['nightly-export'] });
    expect(err).toMatch(/^gatekeeper: report: left out of the dump: .+\n$/);
  });

  it('leaves an unedited leadership to the nodes that make it', async () => {
    const { node, gatekeeper } = cluster();
    const { dump } = await withLeadership(node, gatekeeper);
    const empty = cluster();

    expect(await empty.gatekeeper(['load', await saved(dump), '--yes'])).toEqual({
      exitCode: 0,
      out: 'loaded 2\n',
      err: '',
    });
  });

  it('restores an edited and paused leadership as soon as a node has made it', async () => {
    const { node, gatekeeper } = cluster();
    const { app } = await withLeadership(node, gatekeeper);
    await app.definitions.edit('leader:default', { acquirerPattern: 'app2' });
    await app.definitions.pause('leader:default');
    const path = await saved((await gatekeeper(['dump'])).out);
    const other = cluster();
    await other.node();

    const early = await other.gatekeeper(['load', path, '--yes']);
    expect(early).toMatchObject({ exitCode: 1, out: 'loaded 0\n' });
    expect(early.err).toMatch(/^gatekeeper: leader:default: .*start a node that takes part in it, then load again\n$/);

    await withLeadership(other.node, other.gatekeeper);
    expect(await other.gatekeeper(['load', path, '--yes'])).toEqual({ exitCode: 0, out: 'loaded 1\n', err: '' });
    expect(JSON.parse((await other.gatekeeper(['load', path, '--json'])).out)).toEqual({ dryRun: true, steps: [] });
  });

  it('leaves a definition alone that was edited after the comparison, and names the author', async () => {
    const { store, node, gatekeeper } = cluster();
    const app = await node();
    const path = await saved((await gatekeeper(['dump'])).out);
    await app.definitions.edit('report', { permits: 4 });
    const open = seeing(store, async () => {
      await app.definitions.edit('report', { permits: 9 }, { by: 'bob' });
    });

    const { exitCode, out, err } = await gatekeeper(['load', path, '--yes'], { open });

    expect({ exitCode, out }).toEqual({ exitCode: 1, out: 'loaded 0\n' });
    expect(err).toMatch(/^gatekeeper: report: .*revision 3 \(edit by "bob"/m);
    expect((await app.definitions.get('report'))?.definition.permits).toBe(9);
  });

  it('stops when the target goes away, and ends with 6', async () => {
    const { store, node, gatekeeper } = cluster();
    const app = await node();
    const path = await saved((await gatekeeper(['dump'])).out);
    for (const name of ['report', 'nightly-export']) await app.definitions.edit(name, { permits: 4 });
    const away = () => Promise.reject(new StoreUnavailableError('away'));
    const open: Opening = async (...to) => answering(await over(store)(...to), OPERATIONS.edit, away);

    const outcome = await gatekeeper(['load', path, '--yes'], { open });

    expect(outcome).toEqual({ exitCode: 6, out: '', err: 'gatekeeper: away\n' });
  });

  it('reports what could not be loaded, and loads the rest', async () => {
    const { node, gatekeeper } = cluster();
    const app = await node();
    const dump = JSON.parse((await gatekeeper(['dump'])).out);
    // Too short for the tolerance of clocks that is in force.
    dump.semaphores[0].duration = 1000;
    dump.semaphores[1].permits = 7;

    const { exitCode, out, err } = await gatekeeper(['load', await saved(JSON.stringify(dump)), '--yes']);

    expect({ exitCode, out }).toEqual({ exitCode: 1, out: 'loaded 1\n' });
    expect(err).toMatch(/^gatekeeper: nightly-export: .* duration: .*clockTolerance.*\n$/);
    expect((await app.definitions.get('report'))?.definition.permits).toBe(7);
  });
});

/** The same records; something happens between the look at them and what is done then. */
function seeing(store: StoreDefinition, afterLook: () => Promise<void>): Opening {
  return async (target, manner) => {
    const operator = await over(store)(target, manner);
    const overview = async () => {
      const seen = await operator.call(OPERATIONS.semaphores);
      await afterLook();
      return seen;
    };
    return answering(operator, OPERATIONS.semaphores, overview);
  };
}

const namesIn = (dump: string) => JSON.parse(dump).semaphores.map(({ name }: { name: string }) => name);

/** A node that takes part in the leadership `default`, and a dump that has it. */
async function withLeadership(node: TestCluster['node'], gatekeeper: TestCluster['gatekeeper']) {
  const app = await node({ leadership: { enabled: true } });
  let dump = '';
  await eventually('the node has made its leadership', async () => {
    dump = (await gatekeeper(['dump'])).out;
    return namesIn(dump).includes('leader:default');
  });
  return { app, dump };
}
