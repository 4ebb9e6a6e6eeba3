import type { Gatekeeper, Permit } from 'nestjs-gatekeeper';
import { eventually } from '../../../test/contract/eventually.js';

/** A permit of "job" whose grant the server that took over does not have. */
interface LostGrant {
  readonly permit: Permit;
  /** Duration of the permit, in ms. */
  readonly duration: number;
  /** Nodes that reach the new server, and must not get the permit while it is held. */
  readonly others: readonly [Gatekeeper, ...Gatekeeper[]];
  /** Lets the holder reach the new server. */
  readonly reconnect: () => void;
}

/** The others are denied for half of the duration. Then the holder gets its permit back, and the next token is higher. */
export async function expectKept({ permit, duration, others, reconnect }: LostGrant): Promise<void> {
  const answers = new Set<string>();
  await eventually('half of the permit is over', async () => {
    // While the store can't be asked, the node grants nothing.
    for (const node of others) answers.add(await answered(node).catch(() => 'unavailable'));
    return permit.remaining < duration / 2;
  });
  expect(permit.isHeld).toBe(true);
  expect(answers).not.toContain('granted');
  expect(answers).toContain('denied');
  reconnect();
  await eventually('the holder has its permit again', () => permit.refresh());
  await permit.release();
  const next = await others[0].acquire('job', { timeout: 2 * duration });
  expect(next.token).toBeGreaterThan(permit.token);
}

/** @throws while the store can't be asked */
export async function answered(gatekeeper: Gatekeeper): Promise<'granted' | 'denied'> {
  return (await gatekeeper.tryAcquire('job')) ? 'granted' : 'denied';
}
