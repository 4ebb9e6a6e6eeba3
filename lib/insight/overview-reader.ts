import { compileInPieces, intendedDefinition } from '../decision/index.js';
import { type Pieces, inSlices } from '../async/slices.js';
import { timeOf } from '../context/context.js';
import { type RunLog, newestRuns } from '../activity/index.js';
import { type NodeInfo, NodeMatches, type NodeRegistry } from '../activity/index.js';
import { type StateSources, readState } from './state-reader.js';
import type { SemaphoreState } from './state.js';
import { groupedBy } from './grouped.js';
import { type Overview, type SemaphoreOverview, semaphoreOverview } from './overview.js';
import type { SemaphoreFacts } from './warnings.js';
import { lastRunOf } from './scheduled-job.js';

interface Sources extends StateSources {
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
  { directory, context, health, registry, runLog }: Sources,
  only?: string,
): Promise<Overview> {
  const [state, listed, noted] = await Promise.all([
    readState({ directory, context, health }, only),
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
  const jobs = nodes.flatMap((node) => node.jobs.map((card) => ({ card, node })));
  const jobsOf = groupedBy(jobs, ({ card }) => card.semaphore);
  const runsOf = groupedBy(newestRuns([...jobs.flatMap(lastRunOf), ...runs]), ({ semaphore }) => semaphore);
  const factsOf = (name: string) => ({
    now,
    clockTolerance,
    nodes,
    jobs: jobsOf.get(name) ?? [],
    runs: runsOf.get(name) ?? [],
  });
  const overviews = overviewsInPieces(state.semaphores, new NodeMatches(nodes), factsOf);
  const semaphores = await inSlices(overviews, context.nodeClock);
  return { now, semaphores, nodes, stale: [...state.stale, ...listed.stale, ...noted.stale] };
}

function* overviewsInPieces(
  states: readonly SemaphoreState[],
  matches: NodeMatches,
  factsOf: (name: string) => Omit<SemaphoreFacts, 'passing'>,
): Pieces<SemaphoreOverview[]> {
  const overviews: SemaphoreOverview[] = [];
  for (const state of states) {
    const intended = state.definition && intendedDefinition(state);
    if (intended) yield* compileInPieces([intended.groupPattern, intended.acquirerPattern]);
    const passing = intended ? yield* matches.of(intended) : new Set<NodeInfo>();
    overviews.push(semaphoreOverview(state, { ...factsOf(state.name), passing }));
    yield 1;
  }
  return overviews;
}
