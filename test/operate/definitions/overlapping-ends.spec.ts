import { StoreUnavailableError } from 'nestjs-gatekeeper';
import { failWrite, faultsOfWrites, toldOutage } from '../../support/faulty-writes.js';
import { type TestCluster, type TestNode, useCluster } from '../../support/nodes.js';
import { JOBS, before, pausedOf, throughout, two } from './windows.js';

/** The process of a node dies after a number of its writes. */
function diesAfter({ store }: TestNode, writes: number): void {
  let count = 0;
  store.script = async (call, go) => {
    if (count >= writes) throw new StoreUnavailableError('dead');
    if (call === 'compareAndSet') count++;
    return go();
  };
}

async function three(nodes: TestCluster): Promise<[TestNode, TestNode, TestNode]> {
  const [one, other] = await two(nodes);
  return [one!, other!, await nodes.node({ definitions: JOBS })];
}

const ALL = { window: 'all', names: '.*', by: 'bob' };
const A = { window: 'a', names: 'a-.*', by: 'ann' };

describe('a window that ends while it starts, and overlaps another one', () => {
  const cluster = useCluster();

  /** Window "a" is about to make its first pause when `meddle` runs; then it makes that one, and its process dies. */
  async function latePause(nodes: TestCluster, node: TestNode, meddle: () => Promise<unknown>): Promise<void> {
    let [count, hasMeddled] = [0, false];
    node.store.script = async (call, go) => {
      const ordinal = call === 'compareAndSet' ? ++count : 0;
      if (ordinal > 6) throw new StoreUnavailableError('dead');
      // The fifth write is the first pause.
      if (ordinal < 5) return go();
      if (!hasMeddled) {
        hasMeddled = true;
        await throughout(nodes, meddle());
      }
      return go();
    };
    await throughout(
      nodes,
      node.gatekeeper.definitions.maintenance.start(A).catch(() => undefined),
    );
    expect(hasMeddled).toBe(true);
  }

  it('leaves no pause without a window, when the other one died before it paused anything', async () => {
    const nodes = cluster();
    const [node, other, third] = await three(nodes);
    const { maintenance } = third.gatekeeper.definitions;
    await latePause(nodes, node, async () => {
      diesAfter(other, 2);
      await other.gatekeeper.definitions.maintenance.start(ALL).catch(() => undefined);
      const { left } = await maintenance.end('a');
      expect(left).toEqual(['a-one', 'a-two'].map((name) => ({ name, why: 'window "all" wants it paused' })));
    });
    expect((await maintenance.get('all')).semaphores).toEqual(await pausedOf(third));
    await throughout(nodes, maintenance.start(ALL));
    expect((await maintenance.get('all')).semaphores).toEqual(JOBS.map(({ name }) => name));
    await throughout(nodes, maintenance.end('all'));
    expect([await pausedOf(third), await maintenance.list()]).toEqual([[], []]);
  });

  it('leaves no pause without a window, when the other one is about to pause the same', async () => {
    const nodes = cluster();
    const [node, other, third] = await three(nodes);
    const { maintenance } = third.gatekeeper.definitions;
    let started: Promise<unknown> | undefined;
    const death: Promise<void> = latePause(nodes, node, async () => {
      const isEnded = new Promise<void>((resolve) => {
        before(other, 5, async () => {
          await throughout(nodes, maintenance.end('a'));
          resolve();
          await death;
        });
      });
      started = other.gatekeeper.definitions.maintenance.start(ALL);
      await isEnded;
    });
    await death;
    expect(await throughout(nodes, started!)).toMatchObject({ left: [], failed: [], remaining: 0 });
    expect((await maintenance.get('all')).semaphores).toEqual(await pausedOf(third));
    await throughout(nodes, maintenance.end('all'));
    expect([await pausedOf(third), await maintenance.list()]).toEqual([[], []]);
  });
});

describe('the end of a window whose semaphores another one is about to pause', () => {
  const cluster = useCluster();

  it.each(faultsOfWrites(4))(
    'hands them over with a second call, when write %d of the first %s',
    async (write, fault) => {
      const nodes = cluster();
      const [node, other, third] = await three(nodes);
      const { maintenance } = third.gatekeeper.definitions;
      diesAfter(node, 2);
      await toldOutage(node.gatekeeper.definitions.maintenance.start(A));
      diesAfter(other, 2);
      await toldOutage(other.gatekeeper.definitions.maintenance.start(ALL));
      const faulty = failWrite(third, write, fault);
      await throughout(nodes, toldOutage(maintenance.end('a')));
      expect(faulty.hasFailed).toBe(true);
      faulty.mend();
      const isOver = (await maintenance.list()).every(({ window }) => window !== 'a');
      const again = isOver ? { failed: [] } : await throughout(nodes, maintenance.end('a'));
      expect(again.failed).toEqual([]);
      expect(await pausedOf(third)).toEqual(['a-one', 'a-two']);
      expect(await maintenance.list()).toMatchObject([{ window: 'all', semaphores: ['a-one', 'a-two'] }]);
      await throughout(nodes, maintenance.end('all'));
      expect(await pausedOf(third)).toEqual([]);
    },
  );
});

describe('two windows of which one wants what a person resumed', () => {
  const cluster = useCluster();

  it('leave nothing paused that neither would resume', async () => {
    const nodes = cluster();
    const [node] = await two(nodes);
    const { definitions } = node!.gatekeeper;
    await definitions.maintenance.start(A);
    await definitions.resume('a-one', { by: 'bob' });
    expect((await definitions.maintenance.start(ALL)).paused).toContain('a-one');
    expect((await definitions.maintenance.end('all')).resumed).toContain('a-one');
    expect((await definitions.maintenance.end('a')).left.map(({ name }) => name)).toEqual(['a-one']);
    expect(await pausedOf(node!)).toEqual([]);
  });
});
