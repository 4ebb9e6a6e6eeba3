import { NotReadyError, type StoreHealth, StoreUnavailableError } from 'nestjs-gatekeeper';
import { settled } from '../../support/fake-time.js';
import { JOB, type TestCluster, type TestNode, outcomeOf, openEnd, useCluster } from '../../support/nodes.js';
import { refused } from '../../support/refused.js';
import { removed } from '../../support/removed.js';

const SHORT = { definitions: [{ name: 'job', duration: '2s' }] };

/** Does something else to one reading of the clock: the first is number 1. */
function onReading(
  { store }: TestNode,
  number: number,
  answer: (go: () => Promise<unknown>) => Promise<unknown>,
): void {
  store.script = (call, go) => (call === 'now' && store.calls.now === number ? answer(go) : go());
}

describe('a permit that expired before a node started', () => {
  const cluster = useCluster();

  async function expired() {
    const nodes = cluster();
    const former = await nodes.node({ ...SHORT, sweepInterval: '1h' });
    await former.gatekeeper.run('job', () => 1);
    await nodes.time.advance(9000);
    return { nodes, fresh: nodes.unstarted(SHORT) };
  }

  it('is taken over by a call that comes while the first round of clock readings is under way', async () => {
    const { fresh } = await expired();
    const reading = openEnd();
    onReading(fresh, 2, async (go) => (await reading.work(), go()));
    await fresh.gatekeeper.start();
    await reading.started;
    const running = fresh.gatekeeper.run('job', () => 2);
    expect(await outcomeOf(running)).toBe('pending');
    reading.end();
    expect(await running).toEqual({ executed: true, value: 2 });
  });

  it('is taken over also when a reading of the first round took too long to count', async () => {
    const { nodes, fresh } = await expired();
    onReading(fresh, 3, async (go) => (nodes.time.freeze(600), go()));
    await fresh.gatekeeper.start();
    await settled();
    expect(await fresh.gatekeeper.run('job', () => 2)).toEqual({ executed: true, value: 2 });
  });

  it('waits no longer than half a call for clocks that do not answer, and is then left alone', async () => {
    const { nodes, fresh } = await expired();
    fresh.store.script = (call, go) => (call === 'now' && fresh.store.calls.now > 1 ? new Promise(() => {}) : go());
    await fresh.gatekeeper.start();
    await settled();
    const running = fresh.gatekeeper.run('job', () => 2);
    await nodes.time.advance(1000);
    expect(await outcomeOf(running)).toEqual({ value: { executed: false, reason: 'no-permit' } });
  });

  it('is not waited for while it is not over by what clocks were heard', async () => {
    const nodes = cluster();
    const former = await nodes.node(SHORT);
    await former.gatekeeper.run('job', () => 1);
    const fresh = nodes.unstarted(SHORT);
    fresh.store.script = (call, go) => (call === 'now' && fresh.store.calls.now > 1 ? new Promise(() => {}) : go());
    await fresh.gatekeeper.start();
    await settled();
    expect(await outcomeOf(fresh.gatekeeper.run('job', () => 2))).toEqual({
      value: { executed: false, reason: 'no-permit' },
    });
  });
});

describe('a definition that the store lacks right after the start', () => {
  const cluster = useCluster();
  const started = async (nodes: TestCluster, options = {}) => {
    await nodes.bear();
    const node = nodes.unstarted({ definitions: [JOB], definitionsDelay: '5s', ...options });
    await node.gatekeeper.start();
    return node;
  };

  it.each<[string, (node: TestNode) => Promise<unknown>, unknown]>([
    ['run', ({ gatekeeper }) => gatekeeper.run('job', () => 1), { executed: true, value: 1 }],
    ['tryAcquire', ({ gatekeeper }) => gatekeeper.tryAcquire('job'), { isHeld: true }],
  ])('is waited for by %s', async (_, call, expected) => {
    const nodes = cluster();
    const node = await started(nodes);
    const answer = call(node);
    await nodes.time.advance(4999);
    expect(await outcomeOf(answer)).toBe('pending');
    await nodes.time.advance(1);
    expect(await answer).toMatchObject(expected as object);
  });

  it('is not needed by a name on demand, in a cluster that was born before', async () => {
    const { gatekeeper } = await started(cluster());
    const running = gatekeeper.run('new', () => 1, { duration: '5s' });
    expect(await outcomeOf(running)).toEqual({ value: { executed: true, value: 1 } });
  });

  it('is loaded soon after the shards of the cluster can be read, not only with the next sweep', async () => {
    const nodes = cluster();
    await nodes.bear();
    const node = await started(nodes, { definitionsDelay: 0, sweepInterval: '1h' });
    const isAway = (key?: string) => key?.startsWith('shard') === true && nodes.time.monotonic() < 10_000;
    node.store.script = (_call, go, key) =>
      isAway(key) ? Promise.reject(new StoreUnavailableError('the shards are not there yet')) : go();
    await nodes.time.advance(30_000);
    expect(node.of('defined')).toMatchObject([{ semaphore: 'job' }]);
    expect(await outcomeOf(node.gatekeeper.run('job', () => 1))).toEqual({ value: { executed: true, value: 1 } });
  });

  it('is used at once when another node brings it', async () => {
    const nodes = cluster();
    const later = await started(nodes, { definitionsDelay: '50s' });
    const running = later.gatekeeper.run('job', () => 1);
    await nodes.time.advance(1000);
    expect(await outcomeOf(running)).toBe('pending');
    await nodes.node();
    expect(await outcomeOf(running)).toEqual({ value: { executed: true, value: 1 } });
  });

  it('is waited for no longer than its delay and one call when the store goes away', async () => {
    const nodes = cluster();
    const node = await started(nodes);
    const running = node.gatekeeper.run('job', () => 1);
    await settled();
    node.store.script = () => new Promise(() => {});
    await nodes.time.advance(9100);
    expect(await outcomeOf(running)).toEqual({ value: { executed: false, reason: 'unavailable' } });
  });

  it('is not waited for once definitions were loaded, nor when an operator removed it', async () => {
    const nodes = cluster();
    const one = await nodes.node();
    await removed(one.gatekeeper, 'job');
    const later = await started(nodes);
    const skipped = { value: { executed: false, reason: 'no-definition' } };
    expect(await outcomeOf(later.gatekeeper.run('job', () => 1))).toEqual(skipped);
    await nodes.overwrite(undefined);
    expect(await outcomeOf((await nodes.node({ definitions: [] })).gatekeeper.tryAcquire('job'))).toMatchObject({
      error: { code: 'unknown-semaphore' },
    });
  });

  it('lets those who wait go when the node shuts down', async () => {
    const nodes = cluster();
    const node = await started(nodes);
    const running = node.gatekeeper.run('job', () => 1);
    await settled();
    const draining = node.gatekeeper.drain();
    expect(await outcomeOf(running)).toEqual({ value: { executed: false, reason: 'closing' } });
    await draining;
  });
});

describe('a name on demand right after the start', () => {
  const cluster = useCluster();

  it.each<[string, (node: TestNode) => void]>([
    ['refuses', ({ store }) => (store.script = () => Promise.reject(new StoreUnavailableError('connection refused')))],
    ['never answers', ({ store }) => (store.script = () => new Promise(() => {}))],
  ])('waits no longer than one call for a store that %s', async (_, lose) => {
    const nodes = cluster();
    const node = nodes.unstarted();
    lose(node);
    await node.gatekeeper.start();
    const running = node.gatekeeper.run('new', () => 1, { duration: '5s' });
    const taking = node.gatekeeper.tryAcquire('newer', { duration: '5s' }).catch((error: Error) => error);
    await nodes.time.advance(2000);
    expect(await outcomeOf(running)).toEqual({ value: { executed: false, reason: 'unavailable' } });
    expect(await outcomeOf(taking)).toMatchObject({ value: { code: 'unavailable' } });
  });

  it('waits no longer than the delay of definitions and one call when the store goes away', async () => {
    const nodes = cluster();
    const node = nodes.unstarted();
    await node.gatekeeper.start();
    const running = node.gatekeeper.run('new', () => 1, { duration: '5s' });
    await settled();
    node.store.script = () => new Promise(() => {});
    await nodes.time.advance(9100);
    expect(await outcomeOf(running)).toEqual({ value: { executed: false, reason: 'unavailable' } });
  });
});

describe('ready()', () => {
  const cluster = useCluster();

  it('resolves once the definitions of the code are in the store', async () => {
    const nodes = cluster();
    await nodes.bear();
    const { gatekeeper } = nodes.unstarted({ definitions: [JOB], definitionsDelay: '5s' });
    await gatekeeper.start();
    const ready = gatekeeper.ready();
    await nodes.time.advance(4999);
    expect(await outcomeOf(ready)).toBe('pending');
    await nodes.time.advance(1);
    await ready;
    expect(await gatekeeper.run('job', () => 1)).toMatchObject({ executed: true });
  });

  it('resolves at once when they are there, without waiting for the delay', async () => {
    const nodes = cluster();
    await nodes.node();
    const { gatekeeper } = nodes.unstarted({ definitions: [JOB], definitionsDelay: '5s' });
    await gatekeeper.start();
    expect(await outcomeOf(gatekeeper.ready())).toEqual({ value: undefined });
  });

  it('counts a record that can not be read as there', async () => {
    const nodes = cluster();
    await nodes.overwrite('garbage');
    const { gatekeeper } = nodes.unstarted({ definitions: [JOB] });
    await gatekeeper.start();
    expect(await outcomeOf(gatekeeper.ready())).toEqual({ value: undefined });
  });

  it('waits for the store, and says what is lacking when the time is over', async () => {
    const nodes = cluster();
    const { gatekeeper, store } = await nodes.node();
    let health: StoreHealth = { connected: false, members: 0, quorum: 0, problem: 'connection refused' };
    store.health = () => health;
    const late = gatekeeper.ready({ timeout: '3s' }).catch((error: Error) => error);
    const ready = gatekeeper.ready();
    await nodes.time.advance(3000);
    expect(await late).toMatchObject({ code: 'not-ready', lack: 'store', timeout: 3000 });
    expect((await late) as unknown as Error).toBeInstanceOf(NotReadyError);
    expect(((await late) as unknown as Error).message).toMatch(/not ready within 3000 ms: .*connection refused/);
    health = { connected: true, members: 1, quorum: 0 };
    await nodes.time.advance(200);
    expect(await outcomeOf(ready)).toEqual({ value: undefined });
  });

  it.each<['clock' | 'definitions', string]>([
    ['clock', 'now'],
    ['definitions', 'read'],
  ])('names the %s when calls of "%s" get no answer', async (lack, hanging) => {
    const nodes = cluster();
    const node = nodes.unstarted({ definitions: [JOB], definitionsDelay: '5s' });
    node.store.script = (call, go) => (call === hanging ? new Promise(() => {}) : go());
    await node.gatekeeper.start();
    const ready = node.gatekeeper.ready({ timeout: '4s' }).catch((error: Error) => error);
    await nodes.time.advance(4100);
    expect(await ready).toMatchObject({ code: 'not-ready', lack });
  });

  it('ends when the node shuts down', async () => {
    const nodes = cluster();
    const { gatekeeper } = nodes.unstarted({ definitions: [JOB] });
    await gatekeeper.start();
    const ready = gatekeeper.ready();
    await settled();
    const closing = gatekeeper.close();
    expect(await outcomeOf(ready)).toMatchObject({ error: { code: 'not-ready', lack: 'closing' } });
    await closing;
  });

  it('names the option that it can not use', async () => {
    const { gatekeeper } = await cluster().node();
    await expect(gatekeeper.ready({ timeout: 'soon' })).rejects.toThrow(refused('timeout'));
  });
});
