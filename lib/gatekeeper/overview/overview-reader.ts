import { type Context, timeOf } from '../context/context.js';
import { type RunLog, newestRuns } from '../journals/index.js';
import type { NodeRegistry } from '../nodes/index.js';
import type { SemaphoreDirectory } from '../semaphore-directory.js';
import { readState } from '../state/state-reader.js';
import { groupedBy } from './grouped.js';
import { NodeMatches } from './node-matches.js';
import { type Overview, semaphoreOverview } from './overview.js';
import { lastRunOf } from './scheduled-job.js';

interface Sources {
  readonly directory: SemaphoreDirectory;
  readonly context: Context;
  readonly registry: NodeRegistry;
  readonly runLog: RunLog;
}

/**
 * Reads everything that there is to show. Each part that the store can't be asked for is as it was last read, and
 * stands in `stale`.
 *
 * @param only the name of the one semaphore that is wanted
 */
export async function readOverview(
  { directory, context, registry, runLog }: Sources,
  only?: string,
): Promise<Overview> {
  const { health } = context;
  const [state, listed, noted] = await Promise.all([
    readState(directory, context, only),
    health.read(
      'nodes',
      () => registry.nodes(),
      () => registry.known,
    ),
    health.read(
      'runs',
      () => runLog.lastRuns(),
      () => runLog.knownLastRuns(),
    ),
  ]);
  const [nodes, runs] = [listed.value, noted.value];
  const now = timeOf(context);
  const { clockTolerance } = context.timing;
  const matches = new NodeMatches(nodes);
  const jobs = nodes.flatMap((node) => node.jobs.map((card) => ({ card, node })));
  const jobsOf = groupedBy(jobs, ({ card }) => card.semaphore);
  const runsOf = groupedBy(newestRuns([...jobs.flatMap(lastRunOf), ...runs]), ({ semaphore }) => semaphore);
  const semaphores = state.semaphores.map((semaphore) => {
    const { name } = semaphore;
    return semaphoreOverview(semaphore, {
      now,
      clockTolerance,
      matches,
      jobs: jobsOf.get(name) ?? [],
      runs: runsOf.get(name) ?? [],
    });
  });
  return { now, semaphores, nodes, stale: [...state.stale, ...listed.stale, ...noted.stale] };
}
