import { describe, expect, it } from '@jest/globals';
import { useCluster } from '../../support/nodes.js';
import { ScriptedArchive } from '../../support/scripted-archive.js';

describe('a definition of a name on demand', () => {
  const cluster = useCluster();
  const two = async () => {
    const nodes = cluster();
    const archive = new ScriptedArchive();
    const archiving = await nodes.node({ persistence: archive.persistence });
    return { nodes, archive, archiving, other: await nodes.node() };
  };

  it('is archived a moment after it was made, through whatever node', async () => {
    const { nodes, archive, archiving, other } = await two();
    await other.gatekeeper.definitions.define({ name: 'x', duration: '10s' }, { by: 'ann' });
    await nodes.time.advance(500);
    expect([...archive.content.keys()]).toEqual(['x']);
    const change = { semaphore: 'x', change: { kind: 'define', by: 'ann' } };
    expect([archiving.of('changed'), other.of('changed')]).toMatchObject([[change], [change]]);
  });
});
