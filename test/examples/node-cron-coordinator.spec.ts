import type { Gatekeeper } from 'nestjs-gatekeeper';
import { useCluster } from '../support/nodes.js';

describe('Gatekeeper as the coordinator of node-cron', () => {
  const cluster = useCluster();
  const FIRE = 'nightly-export:2026-11-25T03:00:00.000Z';
  const LEASE = 30_000;

  /** As in docs/from-node-cron.md. */
  const coordinator = (gatekeeper: Gatekeeper) => ({
    async shouldRun(key: string, leaseMs: number): Promise<boolean> {
      const { executed } = await gatekeeper.run(`node-cron ${key}`, () => undefined, { duration: leaseMs });
      return executed;
    },
  });

  it('elects one node for a tick, also if the clock of the other is late', async () => {
    const nodes = cluster();
    const [one, other] = [await nodes.node(), await nodes.node()];
    expect(await coordinator(one.gatekeeper).shouldRun(FIRE, LEASE)).toBe(true);
    await nodes.time.advance(LEASE - 1000);
    expect(await coordinator(other.gatekeeper).shouldRun(FIRE, LEASE)).toBe(false);
    expect(await coordinator(other.gatekeeper).shouldRun(`${FIRE} next`, LEASE)).toBe(true);
    expect([...one.of('lost'), ...other.of('lost')]).toEqual([]);
  });

  it('leaves nothing behind', async () => {
    const nodes = cluster();
    const { gatekeeper } = await nodes.node();
    await coordinator(gatekeeper).shouldRun(FIRE, LEASE);
    expect(gatekeeper.heldPermits()).toHaveLength(1);
    await nodes.time.advance(LEASE);
    expect(gatekeeper.heldPermits()).toEqual([]);
  });
});
