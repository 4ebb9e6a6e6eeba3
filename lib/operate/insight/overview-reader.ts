import { compileInPieces, intendedDefinition } from '../../core/decision/index.js';
import { SharedWork } from '../../core/async/shared-work.js';
import { type Pieces, inSlices } from '../../core/async/slices.js';
import { timeOf } from '../../core/context/context.js';
import { stalePart, staleOf } from '../../core/context/stale.js';
import { type JobRuns, type NodeInfo, NodeMatches, type NodeRegistry, type Runs } from '../activity/index.js';
import { type StateParts, readState } from './state-reader.js';
import type { SemaphoreState, SemaphoreOverview } from './semaphore-answers.js';
import { groupedInPieces } from './grouped.js';
import { heardOf } from './heard-holders.js';
import { type Overview, semaphoreOverview } from './overview.js';
import type { SemaphoreFacts } from './warnings.js';
import { jobsOn } from './scheduled-job.js';

interface OverviewParts extends StateParts {
  readonly registry: NodeRegistry;
  readonly runs: Runs;
  /** Why a definition does not follow the code, for longer than a deploy. */
  readonly unfollowed: (name: string) => string | undefined;
  /** Whether no living node has had a name in its code, for longer than a deploy. */
  readonly isLeftOver: (name: string) => boolean;
}

/** ms for which callers share a recent overview. */
const RECENT = 1000;

/** Reads the overview of a node. Callers share the overview of all semaphores, because these may be thousands. */
export class OverviewReader {
  readonly #whole: SharedWork<undefined, Overview>;
  #recent: { readonly since: number; readonly overview: Promise<Overview> } | undefined;

  constructor(private readonly parts: OverviewParts) {
    this.#whole = new SharedWork(() => readOverview(parts));
  }

  /**
   * Reads an overview after the call. Callers that ask at the same time get the same one.
   *
   * @param only name of a single semaphore. Default: all semaphores
   */
  read(only?: string): Promise<Overview> {
    return only === undefined ? this.#whole.share('', undefined) : readOverview(this.parts, only);
  }

  /** Returns an overview that is at most a second old, so many callers cost the store one reading a second. */
  recent(): Promise<Overview> {
    const { nodeClock } = this.parts.context;
    const now = nodeClock.monotonic();
    // The time decides, because a timer may be late.
    if (this.#recent && now - this.#recent.since < RECENT) return this.#recent.overview;
    const recent = { since: now, overview: this.read() };
    this.#recent = recent;
    // Without callers nothing stays in memory.
    nodeClock.schedule(() => {
      if (this.#recent === recent) this.#recent = undefined;
    }, RECENT);
    return recent.overview;
  }
}

/**
 * Reads everything for the overview. Parts that can't be read are shown as last read, and are listed in `stale`.
 *
 * @param only name of a single semaphore. Default: all semaphores
 */
async function readOverview(
  { directory, context, health, registry, runs, unfollowed, isLeftOver }: OverviewParts,
  only?: string,
): Promise<Overview> {
  const [state, listed, kept] = await Promise.all([
    readState({ directory, context, health }, only),
    health.read(
      'nodes',
      () => registry.nodes(),
      () => registry.known,
    ),
    health.read(
      'runs',
      () => runs.recent(only),
      () => runs.known,
    ),
  ]);
  const nodes = listed.value;
  const now = timeOf(context);
  const { clockTolerance } = context.timing;
  const { jobsOf, pastOf } = await inSlices(bySemaphore(nodes, kept.value), context.nodeClock);
  const heard = heardOf(nodes, stalePart(listed, 'nodes') === undefined);
  const factsOf = (name: string) => ({
    now,
    heard,
    clockTolerance,
    nodes,
    unfollowed: unfollowed(name),
    isLeftOver: isLeftOver(name),
    jobs: jobsOf.get(name) ?? [],
    past: pastOf.get(name) ?? [],
  });
  const overviews = overviewsInPieces(state.semaphores, new NodeMatches(nodes), factsOf);
  const semaphores = await inSlices(overviews, context.nodeClock);
  return {
    now,
    semaphores,
    nodes,
    ...staleOf(state, listed, kept),
  };
}

function* bySemaphore(nodes: readonly NodeInfo[], past: readonly JobRuns[]) {
  const jobsOf = yield* groupedInPieces(jobsOn(nodes), ({ card }) => card.semaphore);
  return { jobsOf, pastOf: yield* groupedInPieces(past, ({ semaphore }) => semaphore) };
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
