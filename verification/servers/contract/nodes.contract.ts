import { Gatekeeper, type GatekeeperOptions, grouped, parseGatekeeperOptions, single } from 'nestjs-gatekeeper';
import { describeUnless } from '../../../test/support/unless.js';
import { FEW_SHARDS } from '../../../test/support/born.js';
import { eventually } from '../../../test/contract/eventually.js';

interface StoreForNodes {
  readonly store: GatekeeperOptions['store'];
  /** Ends what the store connects to. */
  stop(): Promise<void>;
}

const SILENT = { log() {}, warn() {}, error() {}, debug() {} };
const TIMES = { definitionsDelay: 0, membership: { lease: '3s' }, leadership: { enabled: true, lease: '3s' } } as const;
const QUEUES = ['a', 'b', 'c', 'd', 'e', 'f'];
const PATIENCE = 40_000;

/** Permits, leadership, allocation and tasks of two nodes work on this store. */
export function describeNodesContract(name: string, prepare: () => Promise<StoreForNodes>, lack?: string): void {
  describeUnless(lack)(`Two nodes on ${name}`, () => {
    let under: StoreForNodes;
    const nodes: Gatekeeper[] = [];
    beforeAll(async () => {
      under = await prepare();
    });
    afterEach(async () => {
      await Promise.all(nodes.splice(0).map((node) => node.close()));
    });
    afterAll(() => under?.stop());

    const start = async (acquirer: string, prepareNode: (node: Gatekeeper) => void = () => undefined) => {
      const groups = [{ name: 'queues', resources: () => QUEUES, id: String, settleDelay: 100, onAllocated() {} }];
      const options = { ...TIMES, store: under.store, acquirer, allocation: { groups } };
      const node = new Gatekeeper(parseGatekeeperOptions(options), SILENT, { shards: FEW_SHARDS });
      nodes.push(node);
      prepareNode(node);
      await node.start();
      node.tasks.start();
      return node;
    };

    it('hold one permit in turn', async () => {
      const [one, other] = await Promise.all([start('one'), start('other')]);
      const held = await one.acquire('nightly', { duration: '30s', timeout: PATIENCE });
      expect(await other.tryAcquire('nightly', { duration: '30s' })).toBeUndefined();
      const waiting = other.acquire('nightly', { duration: '30s', timeout: PATIENCE });
      await held.release();
      const next = await waiting;
      expect(next.token).toBeGreaterThan(held.token);
      await next.release();
    });

    it('have one leader, and another one when it has closed', async () => {
      const [one, other] = await Promise.all([start('one'), start('other')]);
      await Promise.all([one, other].map((node) => node.cluster.initialize()));
      const leading = () => [one, other].filter(({ cluster }) => cluster.scope().isLeader);
      await eventually('a node leads', () => leading().length > 0, PATIENCE);
      const [former] = leading();
      const next = former === one ? other : one;
      expect(leading()).toEqual([former]);
      const { token } = former!.cluster.scope().term!;
      await former!.close();
      await eventually('the other node leads', () => next.cluster.scope().isLeader, PATIENCE);
      expect(next.cluster.scope().term!.token).toBeGreaterThan(token);
    });

    it('divide resources, and one node has all when the other has closed', async () => {
      const [one, other] = await Promise.all([start('one'), start('other')]);
      await Promise.all([one, other].map((node) => node.allocation.start()));
      const ids = (node: Gatekeeper) =>
        node.allocation
          .group('queues')
          .owned()
          .map(({ id }) => id);
      await eventually('three each', () => ids(one).length === 3 && ids(other).length === 3, PATIENCE);
      expect([...ids(one), ...ids(other)].toSorted()).toEqual(QUEUES);
      await one.close();
      await eventually('all six', () => ids(other).length === 6, PATIENCE);
    });

    it('do the tasks of a group on both nodes, and its handler once', async () => {
      const done: string[] = [];
      const joined: number[] = [];
      const handle = (node: Gatekeeper) => {
        node.tasks.handlers.handle<number>('square', ({ data, id }) => (done.push(id), data * data), {
          concurrency: 4,
        });
        node.tasks.handlers.onGroupFinished<number>('square', async ({ members }) => {
          let sum = 0;
          for await (const { result } of members()) sum += result ?? 0;
          joined.push(sum);
        });
      };
      const [one] = await Promise.all([start('one', handle), start('other', handle)]);
      const numbers = Array.from({ length: 60 }, (_, index) => index + 1);
      await one.tasks.submitMany(
        numbers.map((number) => ({ name: grouped('square', 'all', number, 60), data: number })),
      );
      await eventually('the handler of the group has run', () => joined.length > 0, PATIENCE);
      expect(joined).toEqual([numbers.reduce((sum, number) => sum + number * number, 0)]);
      expect(new Set(done).size).toBe(60);
    });

    it('try a task again after a failure, and run the tasks of a queue in their order', async () => {
      const order: number[] = [];
      const attempts: number[] = [];
      const handle = (node: Gatekeeper) => {
        node.tasks.handlers.handle<number>('step', ({ data }) => void order.push(data), { concurrency: 4 });
        node.tasks.handlers.handle('flaky', ({ attempt }) => {
          attempts.push(attempt);
          if (attempt === 1) throw new Error('once');
        });
      };
      const [one] = await Promise.all([start('one', handle), start('other', handle)]);
      await one.tasks.submit(single('flaky', 'a'), undefined, { backoff: { first: 100 } });
      for (const step of [1, 2, 3, 4, 5]) await one.tasks.submitSerial('steps', single('step', `${step}`), step);
      await eventually('all have ended', () => order.length === 5 && attempts.length === 2, PATIENCE);
      expect(order).toEqual([1, 2, 3, 4, 5]);
      expect(attempts).toEqual([1, 2]);
    });
  });
}
