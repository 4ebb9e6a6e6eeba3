import { InvalidOptionsError, memory, parseGatekeeperOptions } from 'nestjs-gatekeeper';
import { ScriptedArchive } from '../../../support/scripted-archive.js';
import { JOB, type TestCluster, keyOf, useCluster } from '../../../support/nodes.js';
import { removed } from '../../../support/removed.js';

const byAnn = { by: 'ann', reason: 'a migration' };
const SWEEP = 12_500;

describe('definitions that people changed', () => {
  const cluster = useCluster();

  const prepare = () => {
    const archive = new ScriptedArchive();
    const { persistence } = archive;
    const node = (nodes: TestCluster, options = {}) => nodes.node({ persistence, ...options });
    return { archive, node, nodes: cluster() };
  };

  it('are archived a moment after the change, with who changed what and why', async () => {
    const { archive, node, nodes } = prepare();
    const { gatekeeper } = await node(nodes);
    await gatekeeper.definitions.edit('job', { permits: 3 }, byAnn);
    await gatekeeper.definitions.pause('job', byAnn);
    await nodes.time.advance(500);
    expect([...archive.content.values()]).toMatchObject([
      {
        name: 'job',
        revision: 3,
        definition: { permits: 3 },
        change: { kind: 'pause', ...byAnn },
        pause: { ...byAnn, groupPattern: '.*' },
      },
    ]);
    expect(archive.calls.write).toBe(1);
  });

  it('are archived a moment after an operator defined what code does not know', async () => {
    const { archive, node, nodes } = prepare();
    const { gatekeeper } = await node(nodes);
    await gatekeeper.definitions.define({ name: 'own', duration: '1m' }, byAnn);
    await nodes.time.advance(500);
    expect(archive.content.get('own')).toMatchObject({ revision: 1, change: { kind: 'define', ...byAnn } });
  });

  it('are archived by every node that has an archive, also if another node changed them', async () => {
    const { archive, node, nodes } = prepare();
    await node(nodes);
    const { gatekeeper } = await nodes.node();
    await gatekeeper.definitions.edit('job', { permits: 3 }, byAnn);
    await nodes.time.advance(500);
    expect(archive.content.get('job')).toMatchObject({ revision: 2, change: { by: 'ann' } });
  });

  it('are archived at a sweep when no word of them came', async () => {
    const { archive, node, nodes } = prepare();
    const { gatekeeper } = await nodes.node({ definitions: [] });
    await gatekeeper.definitions.define({ name: 'unheard', duration: '10s' }, byAnn);
    await node(nodes);
    await nodes.time.advance(SWEEP);
    expect([...archive.content.keys()]).toEqual(['unheard']);
  });

  it('do not include unchanged ones: code has them', async () => {
    const { archive, node, nodes } = prepare();
    const { gatekeeper } = await node(nodes);
    await gatekeeper.run('ad hoc', () => 1, { duration: '10s' });
    await nodes.time.advance(2 * SWEEP);
    expect(archive.calls).toMatchObject({ load: 1, save: 0 });
    expect(archive.content.size).toBe(0);
  });

  it('do not include a name that calls use on demand, also after an operator defined it and removed the definition', async () => {
    const { archive, node, nodes } = prepare();
    const { gatekeeper } = await node(nodes);
    const name = 'order-123';
    await gatekeeper.definitions.define({ name, duration: '10s' }, byAnn);
    await gatekeeper.definitions.edit(name, { duration: '20s' }, byAnn);
    await gatekeeper.definitions.remove(name, byAnn);
    await nodes.time.advance(500);
    archive.content = new Map();
    await gatekeeper.tryAcquire(name, { duration: '1m' });
    await nodes.time.advance(2 * SWEEP);
    expect([...archive.content.keys()]).toEqual([]);
  });

  it('are back in a cluster that comes up empty: edits, pauses, removals, and what only an operator defined', async () => {
    const { archive, node, nodes } = prepare();
    const code = ['edited', 'paused', 'removed', 'untouched'].map((name) => ({ name, duration: '10s' }));
    const before = await node(nodes, { definitions: code });
    const { definitions } = before.gatekeeper;
    await definitions.edit('edited', { permits: 3 }, byAnn);
    await definitions.pause('paused', byAnn);
    await removed(before.gatekeeper, 'removed', byAnn);
    await definitions.define({ name: 'own', duration: '1m', permits: 7 }, byAnn);
    await nodes.time.advance(500);

    const empty = cluster();
    const after = await node(empty, { definitions: code.map((each) => ({ ...each, duration: '20s' })) });
    const found = (name: string) => after.gatekeeper.definitions.get(name);
    expect(await found('edited')).toMatchObject({
      revision: 2,
      definition: { permits: 3, duration: 10_000 },
      change: { kind: 'edit', ...byAnn },
      isOverridden: true,
    });
    expect(await found('paused')).toMatchObject({ revision: 2, pause: { ...byAnn, groupPattern: '.*' } });
    expect(await found('removed')).toBeUndefined();
    expect(await found('own')).toMatchObject({ revision: 1, definition: { permits: 7, duration: 60_000 } });
    expect(await after.gatekeeper.definitions.get('untouched')).toMatchObject({ definition: { duration: 20_000 } });
    expect(await after.gatekeeper.run('paused', () => 1)).toEqual({ executed: false, reason: 'paused' });
    expect(await after.gatekeeper.run('removed', () => 1)).toEqual({ executed: false, reason: 'no-definition' });
    expect(
      after
        .of('reinstated')
        .map(({ semaphore }) => semaphore)
        .toSorted(),
    ).toEqual(['edited', 'own', 'paused', 'removed']);
    await after.gatekeeper.definitions.resume('paused');
    expect(await after.gatekeeper.run('paused', () => 1)).toMatchObject({ executed: true });
    expect(archive.calls.load).toBe(2);
  });

  it('never take the place of a record that is there and as far', async () => {
    const { archive, node, nodes } = prepare();
    archive.content = new Map([['job', { name: 'job', revision: 2 }]]);
    const { gatekeeper } = await nodes.node();
    await gatekeeper.definitions.edit('job', { permits: 9 });
    const later = await node(nodes);
    await nodes.time.advance(SWEEP);
    expect(await later.gatekeeper.definitions.get('job')).toMatchObject({ revision: 2, definition: { permits: 9 } });
    expect(later.of('reinstated')).toEqual([]);
  });

  it('take the place of an earlier revision, that a node without an archive put there, and leave its permits', async () => {
    const { archive, node, nodes } = prepare();
    const first = await nodes.node();
    const permit = await first.gatekeeper.tryAcquire('job');
    archive.content = new Map([['job', { name: 'job', revision: 5, definition: { ...permitted, permits: 4 } }]]);
    const { gatekeeper } = await node(nodes);
    expect(await gatekeeper.definitions.get('job')).toMatchObject({ revision: 5, definition: { permits: 4 } });
    expect(permit!.isHeld).toBe(true);
    expect((await nodes.record()).permits).toHaveLength(1);
  });

  it('are as code says if the last change was a reset', async () => {
    const { archive, node, nodes } = prepare();
    const change = { id: 'x', kind: 'reset' as const, by: 'ann', at: 1 };
    archive.content = new Map([['job', { name: 'job', revision: 5, definition: permitted, change }]]);
    const { gatekeeper } = await node(nodes, { definitions: [{ ...JOB, permits: 8 }] });
    expect(await gatekeeper.definitions.get('job')).toMatchObject({
      revision: 5,
      definition: { permits: 8 },
      isOverridden: false,
    });
  });

  it('stay paused where they were reset in a pause, and are as code says after it', async () => {
    const { archive, node, nodes } = prepare();
    const first = await node(nodes);
    await first.gatekeeper.definitions.pause('job', byAnn);
    await first.gatekeeper.definitions.reset('job', byAnn);
    await nodes.time.advance(500);
    expect(archive.content.get('job')).toMatchObject({ revision: 3, change: { kind: 'reset' } });

    const { gatekeeper } = await node(cluster(), { definitions: [{ ...JOB, groupPattern: 'default|other' }] });
    expect(await gatekeeper.run('job', () => 1)).toEqual({ executed: false, reason: 'paused' });
    const resumed = await gatekeeper.definitions.resume('job');
    expect(resumed).toMatchObject({ definition: { groupPattern: 'default|other' }, isOverridden: false });
    expect(await gatekeeper.run('job', () => 1)).toMatchObject({ executed: true });
  });

  it('come back with a grace where a node starts strictly', async () => {
    const { archive, node, nodes } = prepare();
    archive.content = new Map([['job', { name: 'job', revision: 5, definition: permitted }]]);
    const { gatekeeper } = await node(nodes, { strictStart: true });
    expect(await gatekeeper.run('job', () => 1)).toEqual({ executed: false, reason: 'recovering' });
  });
});

const permitted = { name: 'job', groupPattern: '.*', acquirerPattern: '.*', permits: 1, duration: 10_000 };

describe('an archive that fails', () => {
  const cluster = useCluster();

  const prepare = async (script: ScriptedArchive['script'], text?: string) => {
    const archive = new ScriptedArchive();
    archive.script = script;
    if (text !== undefined) archive.texts.set('definition:job', text);
    const nodes = cluster();
    const node = await nodes.node({ persistence: archive.persistence });
    return { archive, nodes, node, problems: () => node.of('problem').map(({ action }) => action) };
  };

  it('keeps what the store lacks from being defined until it can be read: it may be paused', async () => {
    const { archive, nodes, node, problems } = await prepare(() => Promise.reject(new Error('away')));
    archive.content = new Map([['job', { name: 'job', revision: 5, definition: { ...permitted, permits: 0 } }]]);
    await nodes.time.advance(3 * SWEEP);
    expect(await node.gatekeeper.run('job', () => 1, { duration: '10s' })).toMatchObject({ reason: 'no-definition' });
    expect(await nodes.raw.records.read(keyOf('job'))).toBeUndefined();
    // Told of once, asked a few times: at each look for what is missing.
    expect(problems()).toEqual(['archive (scripted): load definitions']);
    expect(archive.calls.load).toBeGreaterThan(2);
    expect(archive.calls.load).toBeLessThan(12);
    archive.script = undefined;
    await nodes.time.advance(SWEEP);
    expect(await node.gatekeeper.definitions.get('job')).toMatchObject({ revision: 5 });
  });

  it('is reported once while it can not be read, even if nothing has to be saved', async () => {
    const { archive, nodes, problems } = await prepare((call) => {
      if (call === 'load') throw new Error('away');
    });
    await nodes.time.advance(3 * SWEEP);
    expect(archive.calls.load).toBeGreaterThan(2);
    expect(problems()).toEqual(['archive (scripted): load definitions']);
  });

  it('does not hold up what is defined already', async () => {
    const nodes = cluster();
    await nodes.node();
    const archive = new ScriptedArchive();
    archive.script = () => Promise.reject(new Error('away'));
    const { gatekeeper } = await nodes.node({ persistence: archive.persistence });
    expect(await gatekeeper.run('job', () => 1)).toEqual({ executed: true, value: 1 });
  });

  it('that is corrupt is reported, and code counts where nothing else is left', async () => {
    const { node, problems } = await prepare(undefined, 'garbage');
    expect(problems()).toEqual(['archive (scripted): load definitions']);
    expect(node.log).toContainEqual(expect.stringContaining('"job" is not JSON. It was put aside'));
    expect(await node.gatekeeper.definitions.get('job')).toMatchObject({ revision: 1 });
  });

  it('is reported once while it lasts, tried again at changes and sweeps, and complete when it is back', async () => {
    const { archive, nodes, node, problems } = await prepare((call) => {
      if (call === 'save') throw new Error('disk full');
    });
    await node.gatekeeper.definitions.edit('job', { permits: 3 });
    await nodes.time.advance(500);
    await node.gatekeeper.definitions.edit('job', { permits: 4 });
    await nodes.time.advance(500 + 2 * SWEEP);
    expect(problems()).toEqual(['archive (scripted): save definitions']);
    expect(archive.calls.save).toBeLessThan(8);
    archive.script = undefined;
    await nodes.time.advance(SWEEP);
    expect(archive.content.get('job')).toMatchObject({ revision: 3, definition: { permits: 4 } });
  });

  it('that never answers is not asked again before it has, and keeps no node from closing', async () => {
    const { archive, nodes, node, problems } = await prepare((call) => {
      if (call === 'save') return new Promise<void>(() => undefined);
    });
    await node.gatekeeper.definitions.edit('job', { permits: 3 });
    await nodes.time.advance(10 * SWEEP);
    expect(archive.calls.save).toBe(1);
    expect(problems()[0]).toBe('archive (scripted): save definitions');
    const closing = node.gatekeeper.close();
    await nodes.time.advance(20_000);
    await closing;
    expect(archive.calls.close).toBe(1);
  });
});

describe('closing', () => {
  const cluster = useCluster();

  it('archives a last time, and closes the archive', async () => {
    const archive = new ScriptedArchive();
    const nodes = cluster();
    const { gatekeeper } = await nodes.node({ persistence: archive.persistence });
    await gatekeeper.definitions.edit('job', { permits: 3 });
    const closing = gatekeeper.close();
    await nodes.time.advance(1000);
    await closing;
    expect(archive.content.get('job')).toMatchObject({ revision: 2 });
    expect(archive.calls.close).toBe(1);
    await nodes.time.advance(SWEEP);
    expect(archive.calls.save).toBeLessThanOrEqual(2);
  });
});

it('an archive in the store of the cluster is refused', () => {
  const store = memory();
  expect(() => parseGatekeeperOptions({ store, persistence: store })).toThrow(
    /persistence: is the store of the cluster/,
  );
  expect(() => parseGatekeeperOptions({ store, persistence: memory() })).not.toThrow();
});

it('an option that is no archive is refused', () => {
  const options = { store: { kind: 'none', open: () => undefined }, persistence: './definitions.json' };
  expect(() => parseGatekeeperOptions(options as never)).toThrow(InvalidOptionsError);
  expect(() => parseGatekeeperOptions(options as never)).toThrow(/persistence: is neither file/);
});
