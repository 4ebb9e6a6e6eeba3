import { compileInPieces, intendedDefinition } from '../decision/index.js';
import { type Pieces, inSlices } from '../async/slices.js';
import { timeOf } from '../context/context.js';
import { type RunEntry, type RunHistory, newestRuns } from '../activity/index.js';
import { type NodeInfo, NodeMatches, type NodeRegistry } from '../activity/index.js';
import { type StateSources, readState } from './state-reader.js';
import type { SemaphoreState } from './state.js';
import { groupedInPieces } from './grouped.js';
import { type Overview, type SemaphoreOverview, semaphoreOverview } from './overview.js';
import type { SemaphoreFacts } from './warnings.js';
import { type ScheduledJob, lastRunOf } from './scheduled-job.js';

interface Sources extends StateSources {
  readonly registry: NodeRegistry;
  readonly runHistory: RunHistory;
}

/**
 * Reads everything for the overview. Parts that can't be read are shown as last read, and are listed in `stale`.
 *
 * @param only name of a single semaphore. Default: all semaphores
 */
export async function readOverview(
  { directory, context, health, registry, runHistory }: Sources,
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
      () => runHistory.lastRuns(),
      () => runHistory.knownLastRuns(),
    ),
  ]);
  const [nodes, runs] = [listed.value, noted.value];
  const now = timeOf(context);
  const { clockTolerance } = context.timing;
  const { jobsOf, runsOf } = await inSlices(bySemaphore(nodes, runs), context.nodeClock);
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

function* bySemaphore(nodes: readonly NodeInfo[], runs: readonly RunEntry[]) {
  const jobsOf = yield* groupedInPieces(jobsOn(nodes), ({ card }) => card.semaphore);
  const newest = yield* newestRuns(allRuns(nodes, runs));
  return { jobsOf, runsOf: yield* groupedInPieces(newest.values(), ({ semaphore }) => semaphore) };
}

function* jobsOn(nodes: readonly NodeInfo[]): Generator<ScheduledJob> {
  for (const node of nodes) for (const card of node.jobs) yield { card, node };
}

function* allRuns(nodes: readonly NodeInfo[], runs: readonly RunEntry[]): Generator<RunEntry> {
  for (const job of jobsOn(nodes)) yield* lastRunOf(job);
  yield* runs;
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
