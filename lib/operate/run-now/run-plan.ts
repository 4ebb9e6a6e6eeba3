import type { JobInfo, NodeInfo } from '../activity/index.js';
import {
  type Expiring,
  type SemaphoreRecord,
  type StoredPermit,
  intendedDefinition,
  mismatchOf,
  quoted,
} from '../../core/decision/index.js';
import { type NodeIdentity, byName } from '../../core/context/node-identity.js';
import { recovering } from '../../core/permits/explanation.js';
import { CannotRunError } from '../../core/permits/by-hand/by-hand.errors.js';
import type { RunnableNow } from './answers.js';

/** A job of a living node. */
export interface JobOfNode {
  readonly info: JobInfo;
  readonly node: NodeIdentity;
}

/** The jobs of one semaphore on the living nodes. */
export function jobsUnder(semaphore: string, nodes: readonly NodeInfo[]): JobOfNode[] {
  return nodes.flatMap((node) =>
    node.jobs.flatMap((info) => (info.semaphore === semaphore ? [{ info, node: identityOf(node) }] : [])),
  );
}

/** Says of each job of a semaphore where it could run now, or why it could not. Pure. @param record of the semaphore, which must be defined */
export function runnableNow(record: SemaphoreRecord, jobs: readonly JobOfNode[]): RunnableNow[] {
  const names = [...new Set(jobs.map(({ info }) => info.job))].toSorted();
  return names.map((job) => {
    const same = jobs.filter(({ info }) => info.job === job);
    const able = same.filter(({ info }) => info.runNow === 'yes');
    const nodes = able.filter((each) => matches(record, each)).map(({ node }) => node);
    const obstacle = obstacleOf(record, { job, same, able, nodes });
    return { job, nodes: obstacle === undefined ? nodes.toSorted(byName) : [], ...(obstacle && { obstacle }) };
  });
}

/**
 * The job that a request means.
 *
 * @param wanted name of the job; undefined: the only one that can be run
 * @throws CannotRunError if there is not exactly one such job that can be run
 */
export function chosenJob(semaphore: string, jobs: readonly RunnableNow[], wanted: string | undefined): RunnableNow {
  const cannot = (why: string) => new CannotRunError(semaphore, why);
  const asked = wanted === undefined ? jobs : jobs.filter(({ job }) => job === wanted);
  const possible = asked.filter(({ obstacle }) => obstacle === undefined);
  if (possible.length === 1) return possible[0]!;
  if (possible.length > 1)
    throw cannot(`it has several jobs, so name one of them: ${possible.map(({ job }) => quoted(job)).join(', ')}`);
  if (asked[0]) throw cannot(asked[0].obstacle!);
  throw cannot(wanted === undefined ? 'no living node has a job of it' : `no living node has ${quoted(wanted)}`);
}

/**
 * Why no permit is free now, in a sentence; undefined if one is.
 *
 * @param holders that have not expired
 * @param grace after lost data, while it lasts
 */
export function shortageOf(
  record: SemaphoreRecord,
  holders: readonly StoredPermit[],
  grace: Expiring | undefined,
): string | undefined {
  if (grace) return recovering(grace);
  if (holders.length < (record.definition?.permits ?? 0)) return undefined;
  const names = holders.map(({ acquirer, expiresAt }) => `${acquirer} (until ${new Date(expiresAt).toISOString()})`);
  return `its permits are held: ${names.join(', ')}`;
}

interface Found {
  readonly job: string;
  readonly same: readonly JobOfNode[];
  /** Those whose program can run it. */
  readonly able: readonly JobOfNode[];
  /** Those of them that the patterns match. */
  readonly nodes: readonly NodeIdentity[];
}

function obstacleOf({ definition, pause }: SemaphoreRecord, { job, same, able, nodes }: Found): string | undefined {
  if (pause) return `${pause.by} has paused it${pause.reason === undefined ? '' : `: ${pause.reason}`}`;
  if (definition!.permits === 0) return 'it is off (0 permits)';
  if (able.length === 0) return reasonOf(quoted(job), same[0]!.info.runNow);
  if (nodes.length > 0) return undefined;
  const named = able.map(({ node }) => node.acquirer).slice(0, 5);
  return `its patterns match none of the ${able.length} living nodes that have ${quoted(job)}: ${named.join(', ')}`;
}

function reasonOf(job: string, runNow: JobInfo['runNow']): string {
  switch (runNow) {
    case 'arguments':
      return `the application calls ${job} with arguments, which only the application knows: call it there`;
    case 'not-static':
      return `${job} belongs to a provider that is made per request or per use, so no instance can be called`;
    default:
      return `the nodes that have ${job} do not run it by hand: only the leader runs it, or their version can't`;
  }
}

/** A method may take its permits under another name than that of its node. */
function matches(record: SemaphoreRecord, { info, node }: JobOfNode): boolean {
  const definition = intendedDefinition(record)!;
  return mismatchOf(definition, { group: node.group, acquirer: info.acquirer ?? node.acquirer }) === undefined;
}

function identityOf({ group, acquirer, instance }: NodeIdentity): NodeIdentity {
  return { group, acquirer, instance };
}
