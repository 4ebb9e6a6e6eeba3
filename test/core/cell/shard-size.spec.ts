import { ClusterSingleton, TooManyNamesError, guardWith } from 'nestjs-gatekeeper';
import {
  EMPTY_SHARD,
  MOST_NAMES,
  ShardNames,
  SHARD_PREFIX,
  type StoredPermit,
  decodeShard,
  encodeShard,
} from '../../../lib/core/decision/index.js';
import { LARGEST_BODY } from '../../../lib/stores/remote/protocol.js';
import { namesIn } from '../../support/born.js';
import { type TestCluster, useCluster } from '../../support/nodes.js';

const SHORT = { duration: '10s' };
const KEY = `${SHARD_PREFIX}0`;
const [FIRST, SECOND] = namesIn('0', 2) as [string, string];

describe('a shard that many live names share', () => {
  const cluster = useCluster();

  const permitOf = (name: string, now: number): StoredPermit => ({
    id: `${name}-permit`,
    slot: 0,
    token: now * 1024,
    instance: 'other',
    holder: 'other',
    acquirer: 'orders-7d9f6c5b4-x2x7q',
    group: 'default',
    grantedAt: now,
    expiresAt: now + 60_000,
    duration: 60_000,
  });

  /** A shard with as many names in use as it may have, and a node. */
  async function full(nodes: TestCluster) {
    const node = await nodes.node();
    const held = (await node.gatekeeper.tryAcquire(FIRST, SHORT))!;
    const text = (await nodes.raw.records.read(KEY))!;
    const shard = decodeShard('0', text);
    let { names } = shard;
    while (names.size < MOST_NAMES) {
      const name = `other ${names.size}`;
      names = names.with(name, { revision: 1, permits: [permitOf(name, nodes.time.cluster())] });
    }
    await nodes.raw.records.compareAndSet(
      KEY,
      text,
      encodeShard({ ...shard, seq: shard.seq + 1, nonce: 'full', names }),
    );
    return { node, held };
  }

  it('takes no further name in use, and says what to do', async () => {
    const nodes = cluster();
    const { node } = await full(nodes);
    const taking = node.gatekeeper.tryAcquire(SECOND, SHORT);
    await expect(taking).rejects.toMatchObject({ code: 'too-many-names', semaphore: SECOND });
    await expect(taking).rejects.toThrow('Release their permits, ask for shorter durations, or define the semaphore');
  });

  it('serves the names that it has, and others once these have ended', async () => {
    const nodes = cluster();
    const { node, held } = await full(nodes);
    expect(await held.refresh()).toBe(true);
    await held.release();
    expect(await node.gatekeeper.tryAcquire(SECOND, SHORT)).toMatchObject({ isHeld: true });
    await expect(node.gatekeeper.tryAcquire(FIRST, SHORT)).rejects.toThrow(TooManyNamesError);
    await nodes.time.advance(61_000);
    expect(await node.gatekeeper.tryAcquire(FIRST, SHORT)).toMatchObject({ isHeld: true });
  });

  it('takes a definition of an operator', async () => {
    const nodes = cluster();
    const { node } = await full(nodes);
    await node.gatekeeper.definitions.define({ name: SECOND, duration: '10s' });
    expect(await node.gatekeeper.tryAcquire(SECOND)).toMatchObject({ isHeld: true });
  });

  it('is far from the largest body that a remote store sends', async () => {
    const names = Array.from({ length: MOST_NAMES }, (_, index) => `order-000000${index}`);
    const used = ShardNames.of(names.map((name) => [name, { revision: 1, permits: [permitOf(name, Date.now())] }]));
    expect(2 * encodeShard({ ...EMPTY_SHARD, names: used }).length).toBeLessThan(LARGEST_BODY / 10);
  });
});

describe('a guarded method whose name has a record of its own, by other code', () => {
  const cluster = useCluster();

  class Jobs {
    @ClusterSingleton(() => 'x', '10m')
    async work(): Promise<number | undefined> {
      return 1;
    }
  }

  it('takes the duration of the definition in force', async () => {
    const nodes = cluster();
    const defining = await nodes.node({ definitions: [{ name: 'x', ...SHORT }] });
    await defining.gatekeeper.definitions.edit('x', { duration: '5s' });
    const { gatekeeper } = await nodes.node();
    await guardWith(new Jobs(), gatekeeper).work();
    expect((await nodes.record('x')).permits).toMatchObject([{ duration: 5000 }]);
  });
});
