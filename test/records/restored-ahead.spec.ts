import { describe, expect, it } from '@jest/globals';
import { useCluster } from '../support/nodes.js';

const JUMP = 100_000;
const DURATION = 10_000;

describe("after a member's clock jumped ahead and the store lost data, a node", () => {
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

  it('restores the rest with a grace no longer than the longest permit, although it has not heard that clock', async () => {
    const { nodes, gatekeeper, store, of } = await behindAnother();
    store.script = (call, go) => (call === 'now' ? Promise.reject(new Error('no answer')) : go());
    expect(await gatekeeper.tryAcquire('job')).toBeUndefined();
    expect(of('restored')).toHaveLength(1);
    expect(await nodes.record()).toMatchObject({ grace: { duration: DURATION } });
    await nodes.time.advance(DURATION + 1000);
    expect(await gatekeeper.tryAcquire('job')).toBeDefined();
  });
});
