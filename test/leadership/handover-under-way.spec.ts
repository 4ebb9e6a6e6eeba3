import { partsOf } from '../../lib/gatekeeper/parts.js';
import { type TestNode, openEnd, useCluster } from '../support/nodes.js';
import { onNextWrite } from '../support/scripted-store.js';
import {
  GRACE,
  LEASE,
  REST,
  candidate,
  candidates,
  instanceOf,
  leadersOf,
  leads,
  scopeOf,
  untilLed,
} from './candidates.js';

const newCluster = useCluster();

describe('resign()', () => {
  it.each([
    ['a run under another permit', (node: TestNode, work: () => Promise<unknown>) => node.gatekeeper.run('job', work)],
    ['the work of another scope', (node: TestNode, work: () => Promise<unknown>) => scopeOf(node, 'b').run('b', work)],
  ])('does not wait for the work that it stands in, within %s', async (_, within) => {
    const cluster = newCluster();
    const both = { leadership: { lease: LEASE, scopes: ['a', 'b'] }, definitions: [{ name: 'job', duration: LEASE }] };
    const nodes = [await candidate(cluster, both), await candidate(cluster, both)];
    const [one, other] = nodes as [TestNode, TestNode];
    await cluster.time.advance(1000);
    void scopeOf(one, 'a').run('a', () => within(one, () => scopeOf(one, 'a').resign()));
    await cluster.time.advance(200);
    expect(leads(other, 'a')).toBe(true);
  });

  it('waits for no work that got stuck in a former term', async () => {
    const cluster = newCluster();
    const nodes = await candidates(cluster, 2);
    void scopeOf(nodes[0]!).run('stuck', () => new Promise(() => undefined));
    void scopeOf(nodes[0]!).resign();
    await cluster.time.advance(GRACE + LEASE + REST);
    expect(leads(nodes[1]!)).toBe(true);
    await scopeOf(nodes[1]!).resign();
    await untilLed(cluster, nodes, 1000);
    await cluster.time.advance(REST);
    expect(leads(nodes[0]!)).toBe(true);
    void scopeOf(nodes[0]!).resign();
    expect(await untilLed(cluster, nodes, 1000)).toBeLessThan(200);
    expect(nodes[0]!.of('problem')).toHaveLength(1);
  });
});

describe('transferTo() while the leader steps down', () => {
  it('back to the leader makes it the next leader', async () => {
    const cluster = newCluster();
    const nodes = await candidates(cluster, 2);
    const [former, next] = nodes as [TestNode, TestNode];
    const { work, end } = openEnd();
    void scopeOf(former).lead(work);
    void former.gatekeeper.cluster.transferTo(instanceOf(next));
    await cluster.time.advance(100);
    void next.gatekeeper.cluster.transferTo(instanceOf(former));
    await cluster.time.advance(100);
    end();
    await untilLed(cluster, nodes, 1000);
    expect(leads(former)).toBe(true);
  });

  it('to a third node makes that one the next leader', async () => {
    const cluster = newCluster();
    const nodes = await candidates(cluster, 3);
    const [former, second, third] = nodes as [TestNode, TestNode, TestNode];
    const { work, end } = openEnd();
    void scopeOf(former).lead(work);
    void former.gatekeeper.cluster.transferTo(instanceOf(second));
    await cluster.time.advance(100);
    onNextWrite(former.store, async (pass) => {
      await second.gatekeeper.cluster.transferTo(instanceOf(third));
      return pass();
    });
    end();
    await untilLed(cluster, nodes, 1000);
    expect(leads(third)).toBe(true);
  });
});

describe('a transfer to a node that shuts down meanwhile', () => {
  it.each([0, 100, 1000])('leaves another node to lead at once, %i ms after it began', async (after) => {
    const cluster = newCluster();
    const nodes = await candidates(cluster, 3);
    const [former, target, third] = nodes as [TestNode, TestNode, TestNode];
    const { work, end } = openEnd();
    void scopeOf(former).lead(work);
    await cluster.time.advance(1000);
    void former.gatekeeper.cluster.transferTo(instanceOf(target)).catch(() => undefined);
    await cluster.time.advance(after);
    const closed = target.gatekeeper.close();
    await cluster.time.advance(100);
    end();
    expect(await untilLed(cluster, nodes, 2 * REST)).toBeLessThan(1000);
    expect(leads(third) || leads(former)).toBe(true);
    await closed;
  });
});

describe('a handover of a leader whose work takes longer than those who ask for it expect', () => {
  it.each([
    ['a transfer', (asking: TestNode, target: TestNode) => asking.gatekeeper.cluster.transferTo(instanceOf(target))],
    ['a step-down', (asking: TestNode) => partsOf(asking.gatekeeper).handovers.stepDown('default')],
  ])('by %s still goes to the node that was meant', async (_, ask) => {
    const cluster = newCluster();
    const leader = await candidate(cluster, { shutdownGrace: 10 * GRACE });
    const [target, asking] = [await candidate(cluster), await cluster.node({ shutdownGrace: GRACE })];
    const { work, end } = openEnd();
    void scopeOf(leader).lead(work);
    await ask(asking, target);
    await cluster.time.advance(GRACE + REST + 1000);
    expect(leadersOf([leader, target])).toEqual([]);
    target.store.isDeaf = true;
    end();
    await untilLed(cluster, [leader, target], REST);
    expect(leads(target)).toBe(true);
  });
});
