import { settled } from '../../support/fake-time.js';
import { type TestCluster, JOB, openEnd, useCluster } from '../../support/nodes.js';
import { Sleeper } from '../../support/sleeper.js';

/** ms; that of the test's nodes. */
const TOLERANCE = 500;
const DURATION = 10_000;
const NAME = { acquirer: 'web-1#0', definitions: [{ ...JOB, duration: DURATION }] };

/** Two processes of one name, as during a reload: the former one, which has a permit, and the new one. */
async function reload(nodes: TestCluster, options = {}) {
  const clock = new Sleeper(nodes.time);
  const former = await nodes.node({ ...NAME, ...options }, clock);
  const permit = await former.gatekeeper.tryAcquire('job', { keepAlive: true });
  const next = await nodes.node(NAME);
  return { clock, former, permit: permit!, next };
}

describe('a new process of the same name', () => {
  const cluster = useCluster();

  it('gets nothing that the former one holds while that lives', async () => {
    const nodes = cluster();
    const { permit, next } = await reload(nodes);
    for (let passed = 0; passed < 3 * DURATION; passed += 2000) {
      expect(await next.gatekeeper.tryAcquire('job')).toBeUndefined();
      expect(permit.isHeld).toBe(true);
      await nodes.time.advance(2000);
    }
    expect((await nodes.record()).permits).toMatchObject([{ id: permit.id, acquirer: NAME.acquirer }]);
  });

  it('gets it when the former one gave it up in the store', async () => {
    const nodes = cluster();
    const { former, permit, next } = await reload(nodes);
    await permit.release();
    const own = await next.gatekeeper.tryAcquire('job');
    expect(own!.token).toBeGreaterThan(permit.token);
    expect(await former.gatekeeper.tryAcquire('job')).toBeUndefined();
  });

  it('gets it after the lease and the tolerance of a former one that died, and not earlier', async () => {
    const nodes = cluster();
    const { clock, permit, next } = await reload(nodes);
    clock.freeze();
    const { expiresAt } = (await nodes.record()).permits[0]!;
    const remaining = expiresAt - nodes.time.cluster();
    await nodes.time.advance(remaining + TOLERANCE - 10);
    expect(await next.gatekeeper.tryAcquire('job')).toBeUndefined();
    await nodes.time.advance(1000);
    expect(await next.gatekeeper.tryAcquire('job')).toBeDefined();
    clock.wake();
    expect(permit.isHeld).toBe(false);
  });

  it('runs no job beside the former one, which still ends its run while it shuts down', async () => {
    const nodes = cluster();
    const { former, permit, next } = await reload(nodes, { shutdownGrace: '5s' });
    await permit.release();
    const { work, end } = openEnd();
    const running = former.gatekeeper.run('job', work);
    await settled();
    const closing = former.gatekeeper.close();
    await nodes.time.advance(3000);
    expect(await next.gatekeeper.run('job', () => 1)).toEqual({ executed: false, reason: 'no-permit' });
    end();
    await running;
    await closing;
    expect(await next.gatekeeper.run('job', () => 1)).toEqual({ executed: true, value: 1 });
  });
});
