import { LEASE, TOLERANCE, changesAt, kill, namesAt, pageOf, startMember } from '../../support/members.js';
import { type TestCluster, type TestNode, useCluster } from '../../support/nodes.js';

const MINUTE = 60_000;

/** Calls and characters of one node in a time in which no node comes or goes. */
async function steadyTime(nodes: TestCluster, node: TestNode, ms: number) {
  const before = { ...node.store.calls };
  let read = 0;
  node.store.script = async (call, go) => {
    const answer = await go();
    if (call === 'readMany') for (const text of (answer as Map<string, string>).values()) read += text.length;
    return answer;
  };
  await nodes.time.advance(ms);
  node.store.script = undefined;
  const { calls } = node.store;
  const writes = calls.compareAndSet - before.compareAndSet;
  const page = (await nodes.raw.records.read(await pageOf(nodes, node)))!.length;
  // A compare-and-set sends the expected text and the new one.
  return {
    writes,
    reads: calls.readMany + calls.read - before.readMany - before.read,
    read,
    written: 2 * page * writes,
  };
}

const startMany = (nodes: TestCluster, count: number) =>
  Promise.all(Array.from({ length: count }, () => startMember(nodes, { sweepInterval: '1h' })));

describe('what membership costs a node', () => {
  const cluster = useCluster();

  it.each([1, 10, 50])(
    'with %p participants: 1 write and 1 read per heartbeat, bytes by their number',
    async (count) => {
      const nodes = cluster();
      const all = await startMany(nodes, count);
      await nodes.time.advance(LEASE);
      const { writes, reads, read, written } = await steadyTime(nodes, all[0]!, MINUTE);
      expect(writes).toBeGreaterThanOrEqual(16);
      expect(writes).toBeLessThanOrEqual(20);
      expect(reads).toBe(writes);
      // An entry of this test takes 240 characters, and a page about 100 besides.
      expect(read).toBeLessThan(reads * (300 * count + 8 * 100));
      expect(written).toBeLessThan(2 * writes * (300 * count + 100));
    },
  );

  it('is as small with 100 participants, who all know each other, and who all notice when ten of them crash', async () => {
    const nodes = cluster();
    const all = await startMany(nodes, 100);
    await nodes.time.advance(5000);
    for (const node of all) expect(namesAt(node)).toHaveLength(100);
    // Two samples of the clocks: 100 nodes that live for a minute take half a minute of a busy machine.
    const { writes, reads } = await steadyTime(nodes, all[0]!, MINUTE / 3);
    expect(writes).toBeGreaterThan(4);
    expect(reads).toBe(writes);
    for (const node of all.slice(0, 10)) kill(node);
    await nodes.time.advance(LEASE + TOLERANCE + 1000);
    for (const node of all.slice(10)) {
      expect(namesAt(node)).toHaveLength(90);
      expect(changesAt(node).filter((change) => change.startsWith('member-crashed'))).toHaveLength(10);
    }
  });
});
