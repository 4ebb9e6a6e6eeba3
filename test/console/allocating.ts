import type { GatekeeperOptions } from 'nestjs-gatekeeper';
import { until } from '../support/apps.js';
import type { Console } from './consoles.js';

/**
 * Options of a node that takes part in the group "orders". Each letter is a resource. A busy machine may let the node wait
 * longer than a lease of a second: it would lose what it owns.
 */
export function allocating(letters: string): Partial<GatekeeperOptions> {
  const group = { name: 'orders', resources: () => [...letters], id: (each: string) => each, settleDelay: 0 };
  return { membership: { lease: '4s' }, allocation: { groups: [group] } };
}

/** Waits until the owners of the group are as wanted. */
export async function untilOwned(
  { get }: Console,
  // The answer is JSON.
  // oxlint-disable-next-line typescript/no-explicit-any
  isWanted: (group: any) => boolean,
): Promise<void> {
  await until(async () => {
    const { status, json } = await get('/api/allocation/groups/orders');
    return status === 200 && isWanted(json);
  });
}
