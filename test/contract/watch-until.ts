import type { RecordChange, RecordStore } from '../../lib/stores/store.js';
import { eventually } from './eventually.js';

/** Watches while `act` runs, until it heard something. */
export async function watchUntil(
  store: RecordStore,
  key: string,
  act: () => Promise<unknown>,
): Promise<RecordChange[]> {
  const changes: RecordChange[] = [];
  const end = await store.watch(key, (change) => changes.push(change));
  await act();
  await eventually('a change', () => changes.length > 0);
  await end();
  return changes;
}
