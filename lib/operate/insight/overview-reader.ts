import { compileInPieces, intendedDefinition } from '../../core/decision/index.js';
import { type Pieces, inSlices } from '../../core/async/slices.js';
import { timeOf } from '../../core/context/context.js';
import {
  type JobRuns,
  type RunEntry,
  type RunHistory,
  type RunningEntry,
  type Runs,
  entryKey,
  jobKey,
  newestRuns,
} from '../activity/index.js';
import { type NodeInfo, NodeMatches, type NodeRegistry } from '../activity/index.js';
import { type StateParts, readState } from './state-reader.js';
import type { SemaphoreState } from './state.js';
import { groupedInPieces } from './grouped.js';
import { heardOf } from './heard-holders.js';
import { type Overview, type SemaphoreOverview, semaphoreOverview } from './overview.js';
import type { SemaphoreFacts } from './warnings.js';
import { jobsOn, lastRunOf } from './scheduled-job.js';

interface OverviewParts extends StateParts {
  readonly registry: NodeRegistry;
  readonly runHistory: RunHistory;
  readonly runs: Runs;
  /** Why a definition does not follow the code, for longer than a deploy. */
  readonly unfollowed: (name: string) => string | undefined;
  /** Whether no living node has had a name in its code, for longer than a deploy. */
  readonly isLeftOver: (name: string) => boolean;
}

/** ms that the past of jobs may be old. The last runs come from the journal, which is read more often. */
const PAST_AGE = 10_000;

/**
 * Reads everything for the overview. Parts that can't be read are shown as last read, and are listed in `stale`.
 *
 * @param only name of a single semaphore. Default: all semaphores
 */
export async function readOverview(
  { directory, context, health, registry, runHistory, runs: jobRuns, unfollowed, isLeftOver }: OverviewParts,
  only?: string,
): Promise<Overview> {
  const [state, listed, noted, kept] = await Promise.all([
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
    health.read(
      'runs',
      () => jobRuns.recent(PAST_AGE),
      () => jobRuns.known,
    ),
  ]);
  const [nodes, runs] = [listed.value, noted.value];
  const now = timeOf(context);
  const { clockTolerance } = context.timing;
  const facts = { nodes, runs, past: kept.value, running: runHistory.knownRunning() };
  const { jobsOf, runsOf, pastOf, runningOf } = await inSlices(bySemaphore(facts), context.nodeClock);
  const heard = heardOf(nodes, listed.stale.length === 0);
  const factsOf = (name: string) => ({
    now,
    heard,
    clockTolerance,
    nodes,
    unfollowed: unfollowed(name),
    isLeftOver: isLeftOver(name),
    jobs: jobsOf.get(name) ?? [],
    runs: runsOf.get(name) ?? [],
    past: pastOf.get(name) ?? [],
    running: runningOf.get(name) ?? [],
  });
  const overviews = overviewsInPieces(state.semaphores, new NodeMatches(nodes), factsOf);
  const semaphores = await inSlices(overviews, context.nodeClock);
  return {
    now,
    semaphores,
    nodes,
    stale: [...state.stale, ...listed.stale, ...(noted.stale.length > 0 ? noted : kept).stale],
  };
}

/**
 * Reads the newest run of each job. Runs of other jobs can push it out of the journal, but not out of the past of its job.
 *
 * @throws StoreUnavailableError
 */
export async function readNewestRuns({
  context,
  runHistory,
  runs: jobRuns,
}: Pick<OverviewParts, 'context' | 'runHistory' | 'runs'>): Promise<RunEntry[]> {
  const [runs, past] = await Promise.all([runHistory.lastRuns(), jobRuns.recent(PAST_AGE)]);
  const newest = await inSlices(newestRuns(allRuns({ nodes: [], runs, past })), context.nodeClock);
  return [...newest.values()];
}

interface Read {
  readonly nodes: readonly NodeInfo[];
  readonly runs: readonly RunEntry[];
  readonly past: readonly JobRuns[];
  readonly running: readonly RunningEntry[];
}

function* bySemaphore(read: Read) {
  const jobsOf = yield* groupedInPieces(jobsOn(read.nodes), ({ card }) => card.semaphore);
  const newest = yield* newestRuns(allRuns(read));
  const runsOf = yield* groupedInPieces(newest.values(), ({ semaphore }) => semaphore);
  const pastOf = yield* groupedInPieces(read.past, ({ semaphore }) => semaphore);
  const goingOn = runsInProgress(read, newest);
  return { jobsOf, runsOf, pastOf, runningOf: yield* groupedInPieces(goingOn, ({ semaphore }) => semaphore) };
}

/** Runs that go on, of the journal and of the past of the jobs. The past may be older than the end of a run. */
function* runsInProgress({ running, past }: Read, newest: ReadonlyMap<string, RunEntry>): Generator<RunningEntry> {
  const known = new Set<string>();
  for (const run of [...running, ...past.flatMap((job) => job.running)]) {
    const key = entryKey(run);
    const last = newest.get(jobKey(run));
    if (!known.has(key) && !(last && entryKey(last) === key)) yield run;
    known.add(key);
  }
}

function* allRuns({ nodes, runs, past }: Omit<Read, 'running'>): Generator<RunEntry> {
  for (const job of jobsOn(nodes)) yield* lastRunOf(job);
  for (const job of past) yield* job.runs.slice(0, 1);
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
