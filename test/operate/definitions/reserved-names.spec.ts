import { InvalidOptionsError, parseGatekeeperOptions } from 'nestjs-gatekeeper';
import { createRecord, encodeRecord, parseDefinition } from '../../../lib/core/decision/index.js';
import { START } from '../../support/fake-time.js';
import { JOB, type TestCluster, keyOf, useCluster } from '../../support/nodes.js';
import { partsOf } from '../../../lib/gatekeeper/parts.js';

const RESERVED = ['gatekeeper:sweep', 'leader:main', 'task:mail', 'shard:7'];
const UNDEFINABLE = ['gatekeeper:sweep', 'leader:main', 'task:no/type', 'task:', 'shard:7'];
/** Names of an application, however much they look like reserved ones. */
const FREE = ['gatekeeper', 'leader', 'leaders:main', 'Leader:main', 'my-task:mail', ' shard:7'];

/** Writes a record as the package itself does for its own names. */
async function place(nodes: TestCluster, name: string): Promise<void> {
  const definition = parseDefinition({ name, duration: '10s' }, 500);
  await nodes.raw.records.compareAndSet(keyOf(name), undefined, encodeRecord(createRecord(definition, START, 'nonce')));
}

const codeOf = (call: Promise<unknown>) =>
  call.then(
    () => 'done',
    (error: { code?: string }) => (error instanceof InvalidOptionsError ? error.code : error),
  );

describe('a reserved name', () => {
  const cluster = useCluster();

  it.each(RESERVED)('is refused to everything that takes a permit: %s', async (name) => {
    const { gatekeeper } = await cluster().node();
    const signal = new AbortController().signal;
    const request = { semaphore: name, instance: 'http:ann', holder: 'h', acquirer: 'ann' };
    const calls = [
      gatekeeper.tryAcquire(name, { duration: '5s' }),
      gatekeeper.acquire(name, { duration: '5s', timeout: 1 }),
      gatekeeper.run(name, () => undefined, { duration: '5s' }),
      (async () => gatekeeper.semaphore(name))(),
      partsOf(gatekeeper).external.take(request, { wait: 0, signal }),
      partsOf(gatekeeper).external.refresh({ semaphore: name, instance: 'http:ann', id: 'x', token: 1 }),
      partsOf(gatekeeper).external.release({ semaphore: name, instance: 'http:ann', id: 'x' }),
    ];
    expect(await Promise.all(calls.map(codeOf))).toEqual(calls.map(() => 'reserved-name'));
    expect(await cluster().raw.records.read(keyOf(name))).toBeUndefined();
    expect(partsOf(gatekeeper).directory.declared.has(name)).toBe(false);
  });

  it.each(UNDEFINABLE)('can not be defined: %s', async (name) => {
    const { definitions } = (await cluster().node()).gatekeeper;
    expect(await codeOf(definitions.define({ name, duration: '5s' }))).toBe('reserved-name');
    expect(await cluster().raw.records.read(keyOf(name))).toBeUndefined();
  });

  it('of a type of tasks can be defined, also by the application', async () => {
    const limit = { name: 'task:mail', duration: '5s', permits: 3 };
    const { gatekeeper } = await cluster().node({ definitions: [limit] });
    expect(await gatekeeper.definitions.get('task:mail')).toMatchObject({ definition: { permits: 3 }, revision: 1 });
    const other = await gatekeeper.definitions.define({ ...limit, name: 'task:import' });
    expect(other).toMatchObject({ definition: { permits: 3 } });
  });

  it.each(UNDEFINABLE)('ends the start where the definitions of the application list it: %s', (name) => {
    const options = { store: cluster().memory, definitions: [JOB, { name, duration: '5s' }] };
    expect(() => parseGatekeeperOptions(options)).toThrow(/definitions\.1\.name: .*(is reserved|is no type of tasks)/);
  });

  it.each(FREE)('is not one that only looks like it: %j', async (name) => {
    const { gatekeeper } = await cluster().node();
    expect(await gatekeeper.tryAcquire(name, { duration: '5s' })).toBeDefined();
  });

  it.each(['gatekeeper:sweep', 'shard:7'])('of the package itself is no operator to change: %s', async (name) => {
    const nodes = cluster();
    await place(nodes, name);
    const { definitions } = (await nodes.node()).gatekeeper;
    const before = await nodes.raw.records.read(keyOf(name));
    const calls = [
      definitions.edit(name, { permits: 2 }),
      definitions.pause(name),
      definitions.resume(name),
      definitions.remove(name),
      definitions.revoke(name, 'x'),
    ];
    expect(await Promise.all(calls.map(codeOf))).toEqual(calls.map(() => 'reserved-name'));
    expect((await definitions.pauseAll({ names: '.*' })).done).toEqual(['job']);
    const to = { groupPattern: 'elsewhere' };
    expect((await definitions.planMigration({ names: '.*', to })).steps.map((step) => step.name)).toEqual(['job']);
    expect((await definitions.migrate({ names: '.*', to })).steps.map((step) => step.name)).toEqual(['job']);
    expect(await nodes.raw.records.read(keyOf(name))).toBe(before);
  });

  it('of a leadership is an operator to pause, edit and look at, once it is there', async () => {
    const nodes = cluster();
    await place(nodes, 'leader:main');
    const { gatekeeper } = await nodes.node();
    expect((await gatekeeper.explain('leader:main')).outcome).toBe('granted');
    expect(await gatekeeper.definitions.pause('leader:main')).toMatchObject({ pause: expect.anything() });
    expect(await gatekeeper.definitions.resume('leader:main')).not.toHaveProperty('pause');
    expect(await gatekeeper.definitions.edit('leader:main', { duration: '20s' })).toMatchObject({ revision: 4 });
  });
});
