import type { AuditEntry, JobRuns, NodeOverview } from '../api/answers.js';
import { count } from '../parts/format.js';

/** An event that may explain why a job runs differently since. */
export interface JobMark {
  /** Cluster time in ms. */
  readonly at: number;
  readonly kind: 'change' | 'deploy';
  readonly label: string;
}

/** ms between two starts of nodes above which they belong to different deploys. */
const GAP = 30 * 60_000;

/**
 * The changes of a semaphore and the deploys of a job, oldest first. A deploy shows as the start of its nodes while one of
 * them lives. Later it shows as the first run under a new version, which the job remembers.
 *
 * @param nodes living nodes
 */
export function jobMarks(
  { semaphore, job, versions = [] }: Pick<JobRuns, 'semaphore' | 'job' | 'versions'>,
  changes: readonly AuditEntry[],
  nodes: readonly NodeOverview[],
): JobMark[] {
  const own = nodes.filter(({ jobs }) => jobs.some((each) => each.job === job && each.semaphore === semaphore));
  const former = versions.filter(({ version, since }) => !own.some((node) => isStartOf(node, version, since)));
  const firstRuns = former.map(({ version, since }): JobMark => ({
    at: since,
    kind: 'deploy',
    label: `first run of ${version}`,
  }));
  return [...changes.map(changeMark), ...deploysOf(own), ...firstRuns].toSorted((one, other) => one.at - other.at);
}

function changeMark({ at, by, action, reason }: AuditEntry): JobMark {
  return { at, kind: 'change', label: `${by}: ${action}${reason === undefined ? '' : ` “${reason}”`}` };
}

type Start = Pick<NodeOverview, 'startedAt' | 'version'>;

/** Whether the start of a node that lives came before the first run of its version: then it is the mark. */
function isStartOf(node: Start, version: string, since: number): boolean {
  return node.version === version && node.startedAt <= since;
}

/** Starts of the same version, one soon after the other, are one deploy. */
function deploysOf(nodes: readonly Start[]): JobMark[] {
  const deploys: [Start, ...Start[]][] = [];
  for (const node of nodes.toSorted((one, other) => one.startedAt - other.startedAt)) {
    const last = deploys.findLast(([first]) => first.version === node.version);
    if (last && node.startedAt - last.at(-1)!.startedAt <= GAP) last.push(node);
    else deploys.push([node]);
  }
  return deploys.map(([first, ...others]) => ({
    at: first.startedAt,
    kind: 'deploy',
    label: `${first.version ?? 'restart'} on ${count(others.length + 1, 'node')}`,
  }));
}
