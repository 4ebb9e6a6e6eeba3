import { ScriptedArchive } from '../../../support/scripted-archive.js';
import { openEnd, useCluster } from '../../../support/nodes.js';

const byAnn = { by: 'ann' };
const SWEEP = 12_500;
/** ms after which a change is surely being saved. */
const SOON = 500;

describe('a definition in a shard that an operator removed', () => {
  const cluster = useCluster();

  const prepare = async () => {
    const archive = new ScriptedArchive();
    const nodes = cluster();
    const { gatekeeper } = await nodes.node({ persistence: archive.persistence });
    const define = () => gatekeeper.definitions.define({ name: 'own', duration: '1m' }, byAnn);
    const remove = () => gatekeeper.definitions.remove('own', byAnn);
    await define();
    await nodes.time.advance(SOON);
    return { archive, nodes, gatekeeper, define, remove };
  };

  it('stays removed in a cluster that comes up empty, also if the save of the removal failed at first', async () => {
    const { archive, nodes, remove } = await prepare();
    archive.script = () => Promise.reject(new Error('disk full'));
    await remove();
    await nodes.time.advance(SOON);
    archive.script = undefined;
    await nodes.time.advance(SWEEP);
    expect(archive.content.get('own')).toEqual({ name: 'own', revision: 2 });

    const empty = cluster();
    const after = await empty.node({ persistence: archive.persistence });
    await empty.time.advance(2 * SWEEP);
    expect(await after.gatekeeper.definitions.get('own')).toBeUndefined();
  });

  it.each(['fails', 'succeeds'])('a second time while a save %s stays removed', async (outcome) => {
    const { archive, nodes, define, remove } = await prepare();
    const { work, end } = openEnd();
    archive.script = async () => {
      await work();
      if (outcome === 'fails') throw new Error('disk full');
    };
    await remove();
    await nodes.time.advance(SOON);
    await define();
    await remove();
    end();
    await nodes.time.advance(0);
    archive.script = undefined;
    await nodes.time.advance(SWEEP);
    expect(archive.content.get('own')).toEqual({ name: 'own', revision: 4 });
  });

  it('is given to the archive until it is saved, and not later', async () => {
    const { archive, nodes, remove } = await prepare();
    await remove();
    await nodes.time.advance(SOON);
    archive.content = new Map();
    await nodes.time.advance(2 * SWEEP);
    expect([...archive.content.keys()]).toEqual([]);
  });
});

describe('an archive that is slow', () => {
  const cluster = useCluster();

  it('saves one time after the other, and what changed meanwhile together', async () => {
    const archive = new ScriptedArchive();
    const nodes = cluster();
    const { gatekeeper } = await nodes.node({ persistence: archive.persistence });
    await nodes.time.advance(SOON);
    const before = archive.calls.save;
    let running = 0;
    const most: number[] = [];
    const slow = openEnd();
    archive.script = async () => {
      most.push(++running);
      await slow.work();
      running--;
    };
    for (const permits of [2, 3, 4, 5]) {
      await gatekeeper.definitions.edit('job', { permits });
      await nodes.time.advance(SOON);
    }
    expect(archive.calls.save).toBe(before + 1);
    slow.end();
    await nodes.time.advance(0);
    expect(most).toEqual([1, 1]);
    expect(archive.content.get('job')).toMatchObject({ definition: { permits: 5 } });
  });
});
