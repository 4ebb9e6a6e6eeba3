import { describe, expect, it } from '@jest/globals';
import { StoreUnavailableError, UnknownOutcomeError } from 'nestjs-gatekeeper';
import { START, settled } from './fake-time.js';
import { JOB, type TestCluster, type TestNode, fate, useCluster } from './nodes.js';

const TOLERANCE = 500;
const DURATION = 10_000;

interface Asking {
  readonly holder?: string;
  readonly duration?: number;
  readonly wait?: number;
  readonly signal?: AbortSignal;
}

const noSignal = new AbortController().signal;

function take({ gatekeeper }: TestNode, { holder = 'script', duration, wait = 0, signal = noSignal }: Asking = {}) {
  const who = { semaphore: 'job', instance: 'http:ann', acquirer: 'ann', holder };
  return gatekeeper.proxied.take({ ...who, ...(duration !== undefined && { duration }) }, { wait, signal });
}

/** A permit that is granted, as a later request names it. */
async function taken(node: TestNode, asking: Asking = {}) {
  const answer = await take(node, asking);
  if (answer.outcome !== 'granted') throw new Error(`denied: ${answer.reason}`);
  const { id, token } = answer.permit;
  return { semaphore: 'job', instance: 'http:ann', id, token };
}

/** A node whose store tells it nothing of what happens to the records. */
async function deafNode(nodes: TestCluster): Promise<TestNode> {
  const node = nodes.unstarted({ definitions: [JOB], definitionsDelay: 0 });
  node.store.watch = async () => async () => undefined;
  await node.gatekeeper.start();
  await nodes.time.advance(0);
  return node;
}

/** Does something else to the next write only. */
function onNextWrite({ store }: TestNode, answer: (go: () => Promise<unknown>) => Promise<unknown>): void {
  store.script = (call, go) => {
    if (call !== 'compareAndSet') return go();
    store.script = undefined;
    return answer(go);
  };
}

describe('what is left of a permit for one who is no node', () => {
  const cluster = useCluster();

  it('is its duration less the tolerance and the time that the store took', async () => {
    const nodes = cluster();
    const node = await nodes.node();
    onNextWrite(node, (go) => (nodes.time.freeze(300), go()));
    const remaining = DURATION - TOLERANCE - 300;
    expect(await take(node)).toMatchObject({ remaining, permit: { expiresAt: START + DURATION } });
  });

  it('counts by the wall clock, too: while the machine slept the other one stood still', async () => {
    const nodes = cluster();
    const node = await nodes.node();
    onNextWrite(node, (go) => (nodes.time.jumpWall(2000), go()));
    expect(await take(node)).toMatchObject({ remaining: DURATION - TOLERANCE - 2000 });
  });

  it('is nothing when the answer of the store came after it: nobody gets the permit, and it goes back', async () => {
    const nodes = cluster();
    const node = await nodes.node();
    onNextWrite(node, async (go) => {
      const done = await go();
      nodes.time.freeze(1600);
      return done;
    });
    expect(await take(node, { duration: 2000 })).toMatchObject({ outcome: 'denied', reason: 'permit-lost' });
    await nodes.time.advance(0);
    expect((await nodes.record()).permits).toEqual([]);
    expect(node.of('granted')).toEqual([]);
  });
});

describe('a permit for one who is no node', () => {
  const cluster = useCluster();

  it('is neither refreshed nor taken anew by its holder while it is over but not yet for others', async () => {
    const nodes = cluster();
    const node = await nodes.node();
    const permit = await taken(node);
    await nodes.time.advance(DURATION + TOLERANCE - 1);
    const { id } = permit;
    expect(await node.gatekeeper.proxied.refresh(permit)).toMatchObject({ reason: 'permit-lost' });
    expect(await take(node)).toMatchObject({ outcome: 'denied', reason: 'no-permit', holders: [{ id }] });
    await nodes.time.advance(1);
    const next = await take(node);
    expect(next).toMatchObject({ outcome: 'granted', permit: { id: expect.not.stringContaining(id) } });
  });

  it('is a matter of its holder: what another one of the same token has, or had, is none of it', async () => {
    const nodes = cluster();
    const node = await nodes.node({ definitions: [{ ...JOB, permits: 2 }] });
    await taken(node, { duration: 2000 });
    await nodes.time.advance(2100);
    expect(await take(node)).toMatchObject({ reason: 'no-permit' });
    expect(await take(node, { holder: 'other' })).toMatchObject({ outcome: 'granted', permit: { slot: 1 } });
  });

  it('is there for who waits as soon as one that nobody gave back is over', async () => {
    const nodes = cluster();
    const [one, other] = [await nodes.node(), await nodes.node()];
    await taken(one);
    const waiting = take(other, { holder: 'other', wait: 60_000 });
    await nodes.time.advance(DURATION + TOLERANCE - 1);
    expect(await fate(waiting)).toBe('pending');
    await nodes.time.advance(100);
    expect(await fate(waiting)).toMatchObject({ value: { outcome: 'granted' } });
  });

  it('that is released counts as released when the answer was lost and somebody wrote since', async () => {
    const nodes = cluster();
    const [one, other] = [await nodes.node(), await nodes.node()];
    const permit = await taken(one);
    onNextWrite(one, async (go) => {
      await go();
      await other.gatekeeper.definitions.edit('job', { permits: 3 });
      throw new UnknownOutcomeError('the connection broke');
    });
    expect(await one.gatekeeper.proxied.release(permit)).toBe(true);
    expect(await one.gatekeeper.proxied.release(permit)).toBe(false);
  });

  it('that is released reaches who waits for it in the node itself', async () => {
    const nodes = cluster();
    const node = await deafNode(nodes);
    const permit = await taken(node);
    const waiting = node.gatekeeper.acquire('job', { timeout: '1h' });
    await nodes.time.advance(0);
    expect(await node.gatekeeper.proxied.release(permit)).toBe(true);
    await nodes.time.advance(0);
    expect(await fate(waiting)).toMatchObject({ value: { isHeld: true } });
  });

  it('goes back when whoever asked went away while it was granted', async () => {
    const nodes = cluster();
    const node = await nodes.node();
    const departure = new AbortController();
    onNextWrite(node, async (go) => {
      const done = await go();
      departure.abort(new Error('hung up'));
      return done;
    });
    await expect(take(node, { signal: departure.signal })).rejects.toThrow('hung up');
    expect((await nodes.record()).permits).toEqual([]);
  });

  it('is not taken back once the same name was given it by another node', async () => {
    const nodes = cluster();
    const [node, other] = [await nodes.node(), await nodes.node()];
    onNextWrite(node, async (go) => {
      await go();
      await taken(other);
      return new Promise(() => undefined);
    });
    const taking = take(node).catch((error: Error) => error);
    await nodes.time.advance(2000);
    expect(await taking).toBeInstanceOf(UnknownOutcomeError);
    await nodes.time.advance(1000);
    expect((await nodes.record()).permits).toMatchObject([{ holder: 'script' }]);
  });

  it('stays when whoever had it already went away while it was granted anew', async () => {
    const nodes = cluster();
    const node = await nodes.node();
    const permit = await taken(node);
    const departure = new AbortController();
    onNextWrite(node, async (go) => {
      const done = await go();
      departure.abort(new Error('hung up'));
      return done;
    });
    await expect(take(node, { signal: departure.signal })).rejects.toThrow('hung up');
    expect((await nodes.record()).permits).toMatchObject([{ id: permit.id }]);
  });

  it('is taken back when nobody can tell whether it was granted', async () => {
    const nodes = cluster();
    const node = await nodes.node();
    onNextWrite(node, async (go) => (await go(), new Promise(() => undefined)));
    const taking = take(node).catch((error: Error) => error);
    await nodes.time.advance(1999);
    expect((await nodes.record()).permits).toHaveLength(1);
    await nodes.time.advance(1);
    expect(await taking).toBeInstanceOf(UnknownOutcomeError);
    await settled();
    expect((await nodes.record()).permits).toEqual([]);
  });
});

describe('a permit for one who is no node, when the store lost its data', () => {
  const cluster = useCluster();

  it('goes on with the same token by a node that knew it', async () => {
    const nodes = cluster();
    const node = await nodes.node();
    const permit = await taken(node);
    await nodes.time.advance(1000);
    await nodes.overwrite(undefined);
    const { id, token } = permit;
    expect(await node.gatekeeper.proxied.refresh(permit)).toMatchObject({
      outcome: 'granted',
      remaining: DURATION - TOLERANCE,
      permit: { id, token, slot: 0 },
    });
    expect(await node.gatekeeper.run('job', () => 1)).toEqual({ executed: false, reason: 'recovering' });
  });

  it('is not given to anybody new, who is told why; who waits gets it when the grace is over', async () => {
    const nodes = cluster();
    const node = await nodes.node();
    await nodes.overwrite(undefined);
    expect(await take(node)).toMatchObject({ outcome: 'denied', reason: 'recovering' });
    const waiting = take(node, { wait: 60_000 });
    await nodes.time.advance(DURATION + TOLERANCE - 1);
    expect(await fate(waiting)).toBe('pending');
    await nodes.time.advance(5000);
    expect(await fate(waiting)).toMatchObject({ value: { outcome: 'granted' } });
  });

  it('is called lost by a node that never heard of it only after the grace: another one may know it', async () => {
    const nodes = cluster();
    const [knowing, other] = [await nodes.node(), await nodes.node()];
    const permit = await taken(knowing);
    await knowing.gatekeeper.close();
    await nodes.overwrite(undefined);
    const refresh = () => other.gatekeeper.proxied.refresh(permit);
    expect(await refresh()).toMatchObject({ outcome: 'denied', reason: 'recovering' });
    await nodes.time.advance(DURATION + TOLERANCE - 1);
    expect(await refresh()).toMatchObject({ outcome: 'denied', reason: 'recovering' });
    await nodes.time.advance(1);
    expect(await refresh()).toMatchObject({ outcome: 'denied', reason: 'permit-lost' });
    expect(await take(other)).toMatchObject({ outcome: 'granted' });
  });

  it('comes back when the node that knew it hears of the loss', async () => {
    const nodes = cluster();
    const [knowing, other] = [await nodes.node(), await nodes.node()];
    const permit = await taken(knowing);
    await nodes.overwrite(undefined);
    expect(await knowing.gatekeeper.run('job', () => 1)).toMatchObject({ executed: false });
    await settled();
    const { id, token } = permit;
    expect(await other.gatekeeper.proxied.refresh(permit)).toMatchObject({ permit: { id, token } });
  });

  it('does not come back to who asks for one anew: it may have been given back, and granted on', async () => {
    const nodes = cluster();
    const behind = await deafNode(nodes);
    const other = await nodes.node();
    const former = await taken(behind);
    await other.gatekeeper.proxied.release(former);
    const permit = (await other.gatekeeper.tryAcquire('job'))!;
    await nodes.overwrite(undefined);
    expect(await take(behind)).toMatchObject({ outcome: 'denied', reason: 'recovering' });
    await nodes.time.advance(5000);
    await permit.extend();
    expect((await nodes.record()).permits.map(({ id }) => id)).toEqual([permit.id]);
  });
});

describe('a permit for one who is no node, when the store can not be asked', () => {
  const cluster = useCluster();
  const away = () => Promise.reject(new StoreUnavailableError('away'));

  it('is neither taken, refreshed, released nor waited for; it goes on when the store is back in time', async () => {
    const nodes = cluster();
    const node = await nodes.node();
    const { proxied } = node.gatekeeper;
    const permit = await taken(node);
    const waiting = take(node, { holder: 'other', wait: 60_000 }).catch((error: Error) => error);
    await nodes.time.advance(0);
    node.store.script = away;
    await expect(take(node)).rejects.toThrow(StoreUnavailableError);
    await expect(proxied.refresh(permit)).rejects.toThrow(StoreUnavailableError);
    await expect(proxied.release(permit)).rejects.toThrow(StoreUnavailableError);
    await nodes.time.advance(5100);
    expect(await waiting).toBeInstanceOf(StoreUnavailableError);
    expect(proxied.waiting).toBe(0);
    node.store.script = undefined;
    const { token } = permit;
    expect(await proxied.refresh(permit)).toMatchObject({ outcome: 'granted', permit: { token } });
  });

  it('is over by itself when the store is back too late', async () => {
    const nodes = cluster();
    const node = await nodes.node();
    const permit = await taken(node);
    node.store.script = away;
    await nodes.time.advance(DURATION + TOLERANCE);
    node.store.script = undefined;
    expect(await node.gatekeeper.proxied.refresh(permit)).toMatchObject({ reason: 'permit-lost' });
    expect(await take(node, { holder: 'other' })).toMatchObject({ outcome: 'granted' });
  });
});
