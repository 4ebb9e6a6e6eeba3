import type { SemaphoreDefinitionInput } from 'nestjs-gatekeeper';
import { type HandlerOptions, type TaskFunction, single } from '../../lib/tasks/index.js';
import type { TestCluster, TestNode } from '../support/nodes.js';

/** The limit of the type `mail`. */
export const LIMIT = 'task:mail';
export const DURATION = 10_000;
/** ms: longer than a denied node waits between two looks. */
export const NOTICED = 6000;

/** A node that handles `mail`. */
export async function limitedWorker(
  cluster: TestCluster,
  handler: TaskFunction,
  options: HandlerOptions = {},
): Promise<TestNode> {
  const node = await cluster.node({ definitions: [] });
  node.gatekeeper.tasks.handlers.handle('mail', handler, options);
  node.gatekeeper.tasks.handlers.start();
  await cluster.time.advance(10);
  return node;
}

/** Defines the limit of `mail`. */
export function defineLimit({ gatekeeper }: TestNode, limit: Partial<SemaphoreDefinitionInput> = {}) {
  return gatekeeper.definitions.define({ name: LIMIT, duration: DURATION, ...limit });
}

/** Submits tasks `mail:0`, `mail:1` and so on. */
export async function submitMails({ gatekeeper }: TestNode, count: number): Promise<void> {
  const names = Array.from({ length: count }, (_, index) => ({ name: single('mail', `${index}`) }));
  await gatekeeper.tasks.submitMany(names);
}

/** Handlers that take their time, and the number of those that run at once. */
export function slowWork({ time }: TestCluster, ms: number) {
  const work = { running: 0, most: 0, done: 0 };
  const handler = async () => {
    work.most = Math.max(work.most, ++work.running);
    await new Promise<void>((resolve) => void time.schedule(resolve, ms));
    work.running--;
    work.done++;
  };
  return { work, handler };
}

/** Permits of the limit, in the store. */
export const permitsOf = async (cluster: TestCluster) => (await cluster.record(LIMIT)).permits;
/** Why a node takes no `mail`. */
export const obstacleOf = ({ gatekeeper }: TestNode) => gatekeeper.tasks.handlers.types()[0]?.obstacle;

/** Counts from now how often a node asks for hints. */
export function hintsAskedBy({ store }: TestNode): () => number {
  let asked = 0;
  const { queue } = store;
  Object.assign(store, { queue: (name: string) => (asked++, queue(name)) });
  return () => asked;
}
