import { mismatchInPieces } from '../../core/decision/index.js';
import { type Pieces, inSlices } from '../../core/async/slices.js';
import { sortedInPieces } from '../../core/async/sorted.js';
import type { Context } from '../../core/context/context.js';
import { staleOf } from '../../core/context/stale.js';
import type { Listed } from '../../core/cell/semaphore-listing.js';
import type { SemaphoreDirectory } from '../../core/permits/semaphore-directory.js';
import type { HealthCheck } from './health-check.js';
import type { SemaphoreState } from './semaphore-answers.js';
import { type GatekeeperState, semaphoreState } from './state.js';

export interface StateParts {
  readonly directory: SemaphoreDirectory;
  readonly context: Context;
  readonly health: HealthCheck;
}

/**
 * Reads all holders. If the store is unreachable, it returns the last known state, and `stale` says so.
 *
 * @param only name of a single semaphore, which is much cheaper to read. Default: all semaphores
 */
export async function readState({ directory, context, health }: StateParts, only?: string): Promise<GatekeeperState> {
  const { listing } = directory;
  const read = await health.read(
    'records',
    () => fromStore(directory, context, only),
    () => states(listing.known(only), directory, context),
  );
  return {
    node: context.node,
    store: context.store.health(),
    clock: context.clusterClock.report(),
    semaphores: await inSlices(sortedInPieces(read.value, byName), context.nodeClock),
    ...staleOf(read),
  };
}

function byName(one: SemaphoreState, other: SemaphoreState): number {
  return one.name < other.name ? -1 : 1;
}

async function fromStore(directory: SemaphoreDirectory, context: Context, only?: string): Promise<SemaphoreState[]> {
  if (!context.clusterClock.isFresh) await context.clusterClock.sample();
  const { listing } = directory;
  return states(only === undefined ? listing.all() : listing.one(only), directory, context);
}

async function states(
  listed: Promise<ReadonlyMap<string, Listed>>,
  directory: SemaphoreDirectory,
  context: Context,
): Promise<SemaphoreState[]> {
  return inSlices(statesInPieces(await listed, directory, context), context.nodeClock);
}

function* statesInPieces(
  records: ReadonlyMap<string, Listed>,
  { declared }: SemaphoreDirectory,
  { node, clusterClock }: Context,
): Pieces<SemaphoreState[]> {
  const now = clusterClock.earliest();
  const states: SemaphoreState[] = [];
  for (const [name, record] of records) {
    const isRecord = !(record instanceof Error);
    // This matches the patterns in pieces. `semaphoreState` then finds the result in the cache.
    if (isRecord && record.definition) yield* mismatchInPieces(record.definition, node);
    states.push(
      isRecord ? semaphoreState(name, record, { node, now, code: declared.get(name) }) : unreadable(name, record),
    );
    yield 1;
  }
  return states;
}

function unreadable(name: string, { message }: Error): SemaphoreState {
  return { name, revision: 0, holders: [], free: 0, isForThisNode: false, problem: message };
}
