import { EditConflictError } from 'nestjs-gatekeeper';
import { type TestCluster, type TestNode, useCluster } from '../../support/nodes.js';
import { before, two } from './windows.js';

const WINDOW = { window: 'a', names: 'a-one', by: 'cleo' };

/** An edit, and then a window that ends before it has paused the semaphore, as often as wanted. */
async function editedBeforeWindows(nodes: TestCluster, windows: number): Promise<{ node: TestNode; id: string }> {
  const [node, other] = await two(nodes);
  const { definitions, audit } = node!.gatekeeper;
  await definitions.edit('a-one', { permits: 5 }, { by: 'ann' });
  for (let count = 0; count < windows; count++) {
    before(other!, 5, () => definitions.maintenance.end('a'));
    const start = other!.gatekeeper.definitions.maintenance.start(WINDOW);
    await expect(start).rejects.toMatchObject({ code: 'maintenance-conflict', window: 'a' });
  }
  await nodes.time.advance(1000);
  const log = await audit.read(100);
  expect(log.filter(({ action }) => action === 'resume')).toHaveLength(windows);
  return { node: node!, id: log.find(({ action }) => action === 'edit')!.id! };
}

describe('an undo of an edit, after windows that ended before their pause', () => {
  const cluster = useCluster();

  it.each([1, 2])('is made: %d such windows changed nothing', async (windows) => {
    const { node, id } = await editedBeforeWindows(cluster(), windows);
    const { definitions } = node.gatekeeper;
    expect((await definitions.planUndo(id)).steps).toMatchObject([{ outcome: 'planned' }]);
    expect((await definitions.undo(id, { by: 'bob' })).steps).toMatchObject([{ outcome: 'undone' }]);
    expect(await definitions.get('a-one')).toMatchObject({ definition: { permits: 1 } });
  });

  it('is refused if a person changed the definition after them', async () => {
    const { node, id } = await editedBeforeWindows(cluster(), 1);
    const { definitions } = node.gatekeeper;
    await definitions.edit('a-one', { permits: 7 }, { by: 'dora' });
    await expect(definitions.undo(id)).rejects.toThrow(EditConflictError);
    expect(await definitions.get('a-one')).toMatchObject({ definition: { permits: 7 } });
  });
});
