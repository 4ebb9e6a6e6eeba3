import { InvalidOptionsError } from 'nestjs-gatekeeper';
import { refused } from '../../support/refused.js';
import { ScriptedArchive } from '../../support/scripted-archive.js';
import { JOB, type TestCluster, type TestNode, useCluster } from '../../support/nodes.js';

/** Compiles to 910,002 instructions. An earlier version of this package stored it. */
const COSTLY = 'x{0,1000}'.repeat(455);
const SWEEP = 12_500;
const byAnn = { by: 'ann', reason: 'mending' };

const warningsOf = async ({ gatekeeper }: TestNode) => {
  const { semaphores } = await gatekeeper.overview('job');
  return semaphores[0]!.warnings;
};

/** A definition in the store with patterns that would be refused today. */
async function poison(nodes: TestCluster, changes: object): Promise<void> {
  const record = JSON.parse(JSON.stringify(await nodes.record())) as { definition: object; seq: number };
  const poisoned = { ...record, seq: record.seq + 1, revision: 7, nonce: 'poison' };
  await nodes.overwrite(JSON.stringify({ ...poisoned, definition: { ...record.definition, ...changes } }));
  await nodes.time.advance(SWEEP);
}

describe('a stored pattern that costs too much', () => {
  const cluster = useCluster();

  const poisoned = async (changes: object = { groupPattern: COSTLY }) => {
    const nodes = cluster();
    const node = await nodes.node();
    await poison(nodes, changes);
    return { nodes, node };
  };

  it('grants nothing to anyone, and each node logs it once', async () => {
    const { nodes, node } = await poisoned();
    expect(await node.gatekeeper.tryAcquire('job')).toBeUndefined();
    expect(node.of('denied')).toMatchObject([{ semaphore: 'job', reason: 'group' }]);
    await nodes.time.advance(5 * SWEEP);
    const lines = node.log.filter((line) => line.startsWith('warn'));
    expect(lines).toEqual([
      expect.stringMatching(/^warn "job": problem in "check its patterns": .* groupPattern: "x\{0,1000\}x/),
    ]);
    expect(lines[0]).toMatch(/910,002 instructions, more than 5,000: .*; as it is stored it matches no name$/);
    expect(lines[0]!.length).toBeLessThan(400);
  });

  it('is explained', async () => {
    const { node } = await poisoned();
    const { reason, sentence } = await node.gatekeeper.explain('job');
    expect(reason).toBe('group');
    expect(sentence).toMatch(/^groupPattern of revision 7 matches no name until it is edited, .* instructions/);
    expect(sentence.length).toBeLessThan(400);
    await node.gatekeeper.definitions.edit('job', { groupPattern: '.*', acquirerPattern: 'app1' }, byAnn);
    expect(await node.gatekeeper.explain('job')).toMatchObject({ outcome: 'granted' });
  });

  it('is warned of in the overview, by its field, also while it is paused', async () => {
    const { node } = await poisoned({ groupPattern: COSTLY, acquirerPattern: COSTLY });
    const expected = [
      { code: 'unusable-pattern', sentence: expect.stringMatching(/^groupPattern: "x/) },
      { code: 'unusable-pattern', sentence: expect.stringMatching(/^acquirerPattern: "x/) },
    ];
    expect(await warningsOf(node)).toEqual(expected);
    await node.gatekeeper.definitions.pause('job', byAnn);
    expect(await warningsOf(node)).toEqual(expected);
  });

  it('does not keep an operator from changing the rest, nor from mending it', async () => {
    const { node } = await poisoned({ groupPattern: COSTLY, acquirerPattern: COSTLY });
    const { definitions } = node.gatekeeper;
    expect(await definitions.get('job')).toMatchObject({ revision: 7, definition: { groupPattern: COSTLY } });
    expect(await definitions.edit('job', { permits: 2 }, byAnn)).toMatchObject({ definition: { permits: 2 } });
    await definitions.edit('job', { groupPattern: 'default' }, byAnn);
    await definitions.migrate({ to: { acquirerPattern: '.*' } }, byAnn);
    expect(await warningsOf(node)).toEqual([]);
    expect(await node.gatekeeper.tryAcquire('job')).toBeDefined();
  });

  it('can not be stored again', async () => {
    const { node } = await poisoned();
    const { definitions } = node.gatekeeper;
    const refused = [
      definitions.edit('job', { groupPattern: COSTLY }, byAnn),
      definitions.define({ name: 'new', duration: '10s', acquirerPattern: COSTLY }),
      definitions.migrate({ to: { groupPattern: COSTLY } }),
      definitions.pauseAll({ names: COSTLY }),
    ];
    for (const outcome of await Promise.allSettled(refused)) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: expect.any(InvalidOptionsError) });
    }
  });

  it('lets a run that holds its permit finish', async () => {
    const nodes = cluster();
    const node = await nodes.node();
    const permit = (await node.gatekeeper.tryAcquire('job', { keepAlive: true }))!;
    await poison(nodes, { groupPattern: COSTLY });
    expect(permit.signal.aborted).toBe(false);
    await permit.release();
    expect(await nodes.record()).toMatchObject({ permits: [] });
    expect(await node.gatekeeper.tryAcquire('job')).toBeUndefined();
  });

  it('comes from an archive like any other, and is named', async () => {
    const archive = new ScriptedArchive();
    const definition = { name: 'job', groupPattern: COSTLY, acquirerPattern: '.*', permits: 1, duration: 10_000 };
    archive.content = new Map([['job', { name: 'job', revision: 5, definition }]]);
    const node = await cluster().node({ persistence: archive.persistence });
    expect(await node.gatekeeper.tryAcquire('job')).toBeUndefined();
    expect(await warningsOf(node)).toMatchObject([{ code: 'unusable-pattern' }]);
    expect(node.of('problem')).toEqual([expect.objectContaining({ semaphore: 'job', error: refused('groupPattern') })]);
  });

  it('is an error of options at the start, where code brings it along', () => {
    const definitions = [{ ...JOB, groupPattern: COSTLY }];
    expect(() => cluster().unstarted({ definitions })).toThrow(InvalidOptionsError);
    expect(() => cluster().unstarted({ definitions })).toThrow(/groupPattern: "x\{0,1000\}x.*more than 5,000/);
  });
});
