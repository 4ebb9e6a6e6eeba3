import type { RunOptions } from 'nestjs-gatekeeper';
import { partsOf } from '../../../../lib/gatekeeper/index.js';
import { JOB, type TestCluster, type TestNode } from '../../../support/nodes.js';
import type { NodeClock } from '../../../../lib/core/async/node-clock.js';

export const ANN = { by: 'ann', reason: 'the first run failed' };
export const EXPORT = 'Jobs.export';

interface JobOptions extends RunOptions {
  readonly work?: () => unknown;
  readonly semaphore?: string;
  readonly acquirer?: string;
  readonly nodeClock?: NodeClock;
}

/** A node that has a job that can be run now, and publishes it. */
export async function nodeWithJob(
  cluster: TestCluster,
  { work = () => undefined, semaphore = 'job', job = EXPORT, acquirer, nodeClock, ...options }: JobOptions = {},
): Promise<TestNode> {
  const given = { definitions: [JOB], heartbeat: 1000, ...(acquirer !== undefined && { acquirer }) };
  const node = await cluster.node(given, nodeClock);
  serve(node, { work, semaphore, job, ...options });
  await cluster.time.advance(1100);
  return node;
}

/** Lets a node serve one more job. */
export function serve(
  node: TestNode,
  { work = () => undefined, semaphore = 'job', job = EXPORT, ...options }: JobOptions,
) {
  const { gatekeeper } = node;
  const call = () => gatekeeper.run(semaphore, work, { job, ...options });
  const former = gatekeeper.registry.jobs();
  gatekeeper.registry.jobs = () => [...former, { job, semaphore, runNow: 'yes' }];
  partsOf(gatekeeper).runRequestHandler.serve([{ semaphore, job, call }]);
}

/** The part of a node that asks. */
export const runNowOf = ({ gatekeeper }: TestNode) => partsOf(gatekeeper).runNow;
