import { EditConflictError } from 'nestjs-gatekeeper';
import { namesIn } from '../../support/born.js';
import { JOB, type TestCluster, type TestNode, useCluster } from '../../support/nodes.js';

const named = (name: string, groupPattern = 'production') => ({ ...JOB, name, groupPattern });

async function lastId(cluster: TestCluster, { gatekeeper }: TestNode): Promise<string> {
  await cluster.time.advance(200);
  return (await gatekeeper.audit.read(1))[0]!.id!;
}

describe('the undo of a removal that leaves no record', () => {
  const cluster = useCluster();

  it('is refused after the name was defined and removed once more', async () => {
    const nodes = cluster();
    const node = await nodes.node();
    const { definitions } = node.gatekeeper;
    await definitions.define(named('by-hand', '.*'), { by: 'ann' });
    await definitions.remove('by-hand', { by: 'ann' });
    const removed = await lastId(nodes, node);
    await definitions.define(named('by-hand', 'dr'), { by: 'cleo' });
    await definitions.remove('by-hand', { by: 'cleo' });
    await nodes.time.advance(200);
    const { steps } = await definitions.planUndo(removed);
    expect(steps).toMatchObject([
      { outcome: 'left', why: expect.stringMatching(/^changed since \(remove by "cleo" at/) },
    ]);
    const refused = definitions.undo(removed);
    await expect(refused).rejects.toThrow(EditConflictError);
    await expect(refused).rejects.toMatchObject({ semaphore: 'by-hand', change: { kind: 'remove', by: 'cleo' } });
    expect(await definitions.get('by-hand')).toBeUndefined();

    await definitions.undo(await lastId(nodes, node));
    expect((await definitions.get('by-hand'))?.definition.groupPattern).toBe('dr');
  });

  it('is made although other names that share its record were changed since', async () => {
    const nodes = cluster();
    const node = await nodes.node();
    const { definitions } = node.gatekeeper;
    const [name, other] = namesIn('1', 2) as [string, string];
    await definitions.define(named(name), { by: 'ann' });
    await definitions.remove(name, { by: 'ann' });
    const removed = await lastId(nodes, node);
    await definitions.define(named(other), { by: 'cleo' });
    await definitions.edit(other, { permits: 2 }, { by: 'cleo' });
    await nodes.time.advance(200);
    await definitions.undo(removed);
    expect(await definitions.get(name)).toMatchObject({ definition: { name } });
  });
});
