import { type GatekeeperOptions, type StoreDefinition, memory } from 'nestjs-gatekeeper';
import { until } from '../support/apps.js';
import type { Console, Host } from './consoles.js';
import { allTexts } from '../../lib/core/store/paging.js';

/**
 * Options of a node that takes part in the group "orders". Each letter is a resource. A busy machine may let the node wait
 * longer than a lease of a second: it would lose what it owns.
 */
export function allocating(letters: string): Partial<GatekeeperOptions> {
  const group = { name: 'orders', resources: () => [...letters], id: (each: string) => each, settleDelay: 0 };
  return { membership: { lease: '4s' }, allocation: { groups: [group] } };
}

/** The same with a set that can change. The node reads it only when asked. */
export function allocatingFrom(resources: () => string): Partial<GatekeeperOptions> {
  const { allocation, ...rest } = allocating('');
  const [group] = allocation!.groups!;
  const read = () => [...resources()];
  return { ...rest, allocation: { groups: [{ ...group!, resources: read, refreshInterval: '1h' }] } };
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

/** Owner map of a group that has no resources yet, by key of the store. */
let emptyMap: ReadonlyMap<string, string> | undefined;

/**
 * A store that has an owner map: a node gives out its resources at once. In an empty store nothing is granted for as long
 * as a lease, because the map may be lost, and nodes that knew it may still work.
 */
export async function storeWithMap(start: (host: Host) => Promise<Console>): Promise<StoreDefinition> {
  emptyMap ??= await newMap(start);
  const store = memory();
  const texts = store.open({ callTimeout: 1000 });
  for (const [key, text] of emptyMap) await texts.records.compareAndSet(key, undefined, text);
  await texts.close();
  return store;
}

async function newMap(start: (host: Host) => Promise<Console>): Promise<ReadonlyMap<string, string>> {
  const store = memory();
  await start({ store, gatekeeper: allocating('') });
  const texts = store.open({ callTimeout: 1000 });
  const isOver = (text: string) => (JSON.parse(text) as { grace?: boolean }).grace === false;
  // Before the node has written a map, the API does not call it recovering either.
  await until(async () => [...(await allTexts(texts.records, 'allocation:')).values()].some(isOver));
  const map = await allTexts(texts.records, 'allocation:');
  await texts.close();
  return map;
}
