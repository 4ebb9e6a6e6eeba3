import { decodeRecord } from '../../semaphores/index.js';
import type { Context } from '../context/context.js';
import { listRecords } from '../records/list-records.js';
import { KEY_PREFIX } from '../records/record-keeper.js';
import type { SemaphoreDirectory } from '../semaphore-directory.js';
import { type GatekeeperState, type SemaphoreState, type Standpoint, semaphoreState } from './state.js';

/**
 * Reads who holds what. While the store can't be asked it gives what this node last knew; `store.connected` tells.
 */
export async function readState(directory: SemaphoreDirectory, context: Context): Promise<GatekeeperState> {
  const semaphores = await fromStore(directory, context).catch(() => fromMemory(directory, context));
  return {
    node: context.node,
    store: context.store.health(),
    clock: context.clusterClock.report(),
    semaphores: semaphores.toSorted((one, other) => (one.name < other.name ? -1 : 1)),
  };
}

async function fromStore({ code }: SemaphoreDirectory, context: Context): Promise<SemaphoreState[]> {
  if (!context.clusterClock.isFresh) await context.clusterClock.sample();
  const texts = await listRecords(context);
  const { node, clusterClock } = context;
  const now = clusterClock.earliest();
  return [...texts].map(([key, text]) => {
    const name = key.slice(KEY_PREFIX.length);
    return fromText(name, text, { node, now, code: code.get(name) });
  });
}

function fromText(name: string, text: string, standpoint: Standpoint): SemaphoreState {
  try {
    return semaphoreState(name, decodeRecord(name, text), standpoint);
  } catch (error) {
    return { name, revision: 0, holders: [], free: 0, isForThisNode: false, problem: (error as Error).message };
  }
}

function fromMemory(directory: SemaphoreDirectory, { node, clusterClock }: Context): SemaphoreState[] {
  const now = clusterClock.earliest();
  return [...directory.known.values()].flatMap(({ name, keeper }) =>
    keeper.known ? [semaphoreState(name, keeper.known, { node, now, code: directory.code.get(name) })] : [],
  );
}
