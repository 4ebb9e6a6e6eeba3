import type { Gatekeeper } from 'nestjs-gatekeeper';
import { outcomeOf, useCluster } from '../../support/nodes.js';

const JUMP = 100_000;
const DURATION = 10_000;

describe("after a member's clock jumped ahead, a node", () => {
  const cluster = useCluster();

  /** A node that knows more writes than what another one has restored by the time after the jump. */
  async function behindAnother() {
    const nodes = cluster();
    const { gatekeeper, store, of } = await nodes.node();
    const before = await nodes.record();
    await (await gatekeeper.tryAcquire('job'))!.release();
    const now = nodes.time.cluster() + JUMP;
    const grace = { id: 'grace-other', expiresAt: now + DURATION, duration: DURATION };
    await nodes.overwrite(JSON.stringify({ ...before, nonce: 'other', at: now, grace }));
    return { nodes, gatekeeper, store, of };
  }

  /** A node that finds a record which another one wrote by the time after the jump. */
  async function stampedAhead(before: (other: Gatekeeper) => Promise<void> = async () => undefined) {
    const nodes = cluster();
    const [{ gatekeeper, store }, other] = [await nodes.node(), await nodes.node()];
    await before(other.gatekeeper);
    await nodes.time.advance(100);
    const at = nodes.time.cluster() + JUMP;
    await nodes.overwrite(JSON.stringify({ ...(await nodes.record()), nonce: 'other', seq: 9, at }));
    return { nodes, gatekeeper, store, at };
  }

  it('restores lost data with a grace no longer than the longest permit, although it has not heard that clock', async () => {
    const { nodes, gatekeeper, store, of } = await behindAnother();
    store.script = (call, go) => (call === 'now' ? Promise.reject(new Error('no answer')) : go());
    expect(await gatekeeper.tryAcquire('job')).toBeUndefined();
    expect(of('restored')).toHaveLength(1);
    expect(await nodes.record()).toMatchObject({ grace: { duration: DURATION } });
    expect(gatekeeper.health().faults).toContainEqual(expect.objectContaining({ code: 'recovering' }));
    await nodes.time.advance(DURATION + 1000);
    expect(gatekeeper.health().faults.map(({ code }) => code)).not.toContain('recovering');
    expect(await gatekeeper.tryAcquire('job')).toBeDefined();
  });

  it('asks for the time before it decides on a record that such a clock has stamped', async () => {
    const { nodes, gatekeeper, store, at } = await stampedAhead();
    store.script = async (call, go) => {
      const answer = await go();
      return call === 'now' ? { ...(answer as object), time: nodes.time.cluster() + JUMP } : answer;
    };
    const permit = (await gatekeeper.tryAcquire('job'))!;
    expect(permit.expiresAt).toBe(at + DURATION);
    const asked = store.calls.now;
    await permit.refresh();
    expect(store.calls.now).toBe(asked);
  });

  it('waits for the time only twice per record if no member tells it', async () => {
    const { nodes, gatekeeper, store } = await stampedAhead(async (other) => void (await other.tryAcquire('job')));
    store.script = (call, go) => (call === 'now' ? new Promise(() => undefined) : go());
    const first = gatekeeper.tryAcquire('job');
    expect(await outcomeOf(first)).toBe('pending');
    await nodes.time.advance(1000);
    expect(await first).toBeUndefined();
    expect(await outcomeOf(gatekeeper.tryAcquire('job'))).toEqual({ value: undefined });
  });
});
