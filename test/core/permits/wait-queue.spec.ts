import { type Permit, StoreUnavailableError } from 'nestjs-gatekeeper';
import type { ExternalGrant } from '../../../lib/core/permits/external/external-calls.js';
import { partsOf } from '../../../lib/gatekeeper/parts.js';
import { deafNode, onNextWrite, take, taken } from '../../support/external-client.js';
import { settled } from '../../support/fake-time.js';
import { JOB, type TestNode, outcomeOf, useCluster } from '../../support/nodes.js';

const LONG = '1h';

describe('the wait queue of one process', () => {
  const cluster = useCluster();

  it('serves local and external callers in the order in which they came', async () => {
    const node = await cluster().node();
    const held = (await node.gatekeeper.tryAcquire('job', { keepAlive: true }))!;
    const order: string[] = [];
    const local = async (holder: string) => {
      const permit: Permit = await node.gatekeeper.acquire('job', { holder });
      order.push(holder);
      await permit.release();
    };
    const external = async (holder: string) => {
      const { permit } = (await take(node, { holder, wait: 60_000 })) as ExternalGrant;
      order.push(holder);
      await partsOf(node.gatekeeper).external.release({ semaphore: 'job', instance: 'http:ann', id: permit.id });
    };
    const all: Promise<void>[] = [];
    for (const [index, call] of [external, local, external, external, local].entries()) {
      all.push(call(`${index}`));
      await settled();
    }
    await held.release();
    await Promise.all(all);
    expect(order).toEqual(['0', '1', '2', '3', '4']);
  });

  it('gives an external newcomer no permit that is free while others wait for it', async () => {
    const nodes = cluster();
    const node = await nodes.node();
    const waiting = node.gatekeeper.acquire('job', { acquirer: 'late', holder: 'first' });
    expect(await outcomeOf(waiting)).toMatchObject({ value: { isHeld: true } });
    const second = node.gatekeeper.acquire('job', { holder: 'second' });
    await settled();
    // It comes while the one before it asks on.
    let newcomer: Promise<unknown> | undefined;
    node.store.script = async (call, go) => {
      const answer = await go();
      if (call === 'compareAndSet') newcomer ??= take(node, { wait: 60_000 });
      return answer;
    };
    await (await waiting).release();
    expect(await outcomeOf(second)).toMatchObject({ value: { isHeld: true } });
    expect(await outcomeOf(newcomer!)).toBe('pending');
  });

  it('gives an external client its own permit at once, though others wait for it', async () => {
    const nodes = cluster();
    const [node, other] = [await nodes.node(), await nodes.node()];
    const { id } = await taken(other, { duration: 60_000 });
    void node.gatekeeper.acquire('job', { timeout: LONG }).catch(() => undefined);
    await settled();
    expect(await outcomeOf(take(node, { wait: 60_000 }))).toMatchObject({ value: { permit: { id } } });
  });

  /** This node holds the permit, and another holder in its process waits for it. */
  async function heldAndWaitedFor() {
    const nodes = cluster();
    const { gatekeeper, store } = await nodes.node();
    await gatekeeper.acquire('job', { keepAlive: true });
    const other = gatekeeper.acquire('job', { holder: 'other' });
    await settled();
    return { nodes, gatekeeper, store, other };
  }

  it('gives a call the permit of its own holder after an outage at its start, though another waits for that permit', async () => {
    const { nodes, gatekeeper, store, other } = await heldAndWaitedFor();
    store.script = () => Promise.reject(new StoreUnavailableError('away'));
    const nested = gatekeeper.acquire('job', { timeout: '20s' });
    await nodes.time.advance(300);
    store.script = undefined;
    await nodes.time.advance(2000);
    expect(await outcomeOf(nested)).toMatchObject({ value: { isHeld: true } });
    expect(await outcomeOf(other)).toBe('pending');
  });

  it('asks for one call only while the store is away, however many wait, and for each once when it is back', async () => {
    const { nodes, gatekeeper, store, other } = await heldAndWaitedFor();
    const questions: string[] = [];
    store.script = (call) => (questions.push(call), Promise.reject(new StoreUnavailableError('away')));
    const nested = Array.from({ length: 100 }, () => gatekeeper.acquire('job', { timeout: '60s' }));
    await nodes.time.advance(100);
    questions.length = 0;
    await nodes.time.advance(5000);
    expect(questions.length).toBeLessThan(20);
    store.script = undefined;
    await nodes.time.advance(2000);
    const outcomes = await Promise.all(nested.map((each) => outcomeOf(each)));
    expect(outcomes.every((outcome) => typeof outcome === 'object' && 'value' in outcome)).toBe(true);
    expect(await outcomeOf(other)).toBe('pending');
  });

  it('does not make local callers wait behind an external one whose acquirer does not match', async () => {
    const nodes = cluster();
    const node = await nodes.node({ acquirer: 'app1', definitions: [{ ...JOB, acquirerPattern: 'app1' }] });
    const external = take(node, { wait: 60_000 });
    await settled();
    const local = node.gatekeeper.acquire('job');
    expect(await outcomeOf(local)).toMatchObject({ value: { isHeld: true } });
    await (await local).release();
    await node.gatekeeper.definitions.edit('job', { acquirerPattern: 'ann' });
    expect(await outcomeOf(external)).toMatchObject({ value: { outcome: 'granted' } });
  });

  it('tells an external client that waited behind others who holds the permits now', async () => {
    const nodes = cluster();
    const node = await nodes.node();
    const held = (await node.gatekeeper.tryAcquire('job', { holder: 'a', keepAlive: true }))!;
    const next = node.gatekeeper.acquire('job', { holder: 'b', keepAlive: true });
    await settled();
    const external = take(node, { wait: 3000 });
    await settled();
    await held.release();
    await nodes.time.advance(3000);
    const holders = [{ holder: 'b', id: (await next).id }];
    expect(await external).toMatchObject({ outcome: 'denied', reason: 'no-permit', holders });
  });

  it.each([
    ['a local caller', async (node: TestNode): Promise<object> => node.gatekeeper.acquire('job')],
    ['an external one', async (node: TestNode): Promise<object> => take(node, { wait: 60_000 })],
  ])('asks again soon after a grant whose answer came too late for %s', async (_who, call) => {
    const nodes = cluster();
    const node = await deafNode(nodes);
    // By the wall clock this one answer comes after the end of what it grants.
    onNextWrite(node, async (go) => (nodes.time.jumpWall(20_000), go()));
    const waiting = call(node);
    await nodes.time.advance(0);
    const before = node.store.calls.compareAndSet;
    await nodes.time.advance(180);
    expect(node.store.calls.compareAndSet - before).toBeLessThan(2);
    await nodes.time.advance(100);
    expect(await outcomeOf(waiting)).toMatchObject({ value: {} });
  });
});
