import { type Context, timeOf } from '../context/context.js';
import { type RunEntry, type RunLog, newestRuns } from '../journals/index.js';
import type { NodeCard, Roster } from '../nodes/index.js';
import type { SemaphoreDirectory } from '../semaphore-directory.js';
import { readState } from '../state/state-reader.js';
import { groupedBy } from './grouped.js';
import { NodeMatches } from './node-matches.js';
import { type Overview, semaphoreOverview } from './overview.js';
import { lastRunOf } from './scheduled-task.js';

interface Sources {
  readonly directory: SemaphoreDirectory;
  readonly context: Context;
  readonly roster: Roster;
  readonly runLog: RunLog;
}

/**
 * Reads everything that there is to show. What the store can't be asked for is left out.
 *
 * @param only the name of the one semaphore that is wanted
 */
export async function readOverview({ directory, context, roster, runLog }: Sources, only?: string): Promise<Overview> {
  const [state, nodes, runs] = await Promise.all([
    readState(directory, context, only),
    roster.nodes().catch((): NodeCard[] => []),
    runLog.lastRuns().catch((): RunEntry[] => []),
  ]);
  const now = timeOf(context);
  const matches = new NodeMatches(nodes);
  const tasks = nodes.flatMap((node) => node.tasks.map((card) => ({ card, node })));
  const tasksOf = groupedBy(tasks, ({ card }) => card.semaphore);
  const runsOf = groupedBy(newestRuns([...tasks.flatMap(lastRunOf), ...runs]), ({ semaphore }) => semaphore);
  const semaphores = state.semaphores.map((semaphore) => {
    const { name } = semaphore;
    return semaphoreOverview(semaphore, { now, matches, tasks: tasksOf.get(name) ?? [], runs: runsOf.get(name) ?? [] });
  });
  return { now, semaphores, nodes };
}
