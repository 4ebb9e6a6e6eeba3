import { StoreUnavailableError } from 'nestjs-gatekeeper';
import { useCluster } from '../../../support/nodes.js';
import { ScriptedRunArchive } from '../../../support/scripted-run-archive.js';

describe('the removal of old archived runs', () => {
  const cluster = useCluster();

  it('waits while cluster time is unknown, because this node’s own clock may be wrong', async () => {
    const nodes = cluster();
    const archive = new ScriptedRunArchive();
    const { store } = await nodes.node({ history: { archive: { kind: 'scripted', open: () => archive } } });
    await nodes.time.advance(70_000);
    expect(archive.removals).toHaveLength(1);
    store.script = () => Promise.reject(new StoreUnavailableError('away'));
    await nodes.time.advance(1_800_000);
    expect(archive.removals).toHaveLength(1);
    store.script = undefined;
    const back = nodes.time.cluster();
    await nodes.time.advance(80_000);
    expect(archive.removals).toHaveLength(2);
    expect(archive.removals[1]).toBeGreaterThan(back);
  });
});
