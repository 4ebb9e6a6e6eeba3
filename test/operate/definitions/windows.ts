import { JOB, type TestCluster, type TestNode } from '../../support/nodes.js';

export const JOBS = ['a-one', 'a-two', 'b-one', 'b-two'].map((name) => ({ ...JOB, name }));

export async function pausedOf({ gatekeeper }: TestNode): Promise<string[]> {
  return (await gatekeeper.state()).semaphores.filter(({ pause }) => pause).map(({ name }) => name);
}

export const two = async (cluster: TestCluster) => [
  await cluster.node({ definitions: JOBS }),
  await cluster.node({ definitions: JOBS }),
];

/** Lets time pass until the calls have ended: writers that collide back off. */
export async function throughout<T>({ time }: TestCluster, calls: Promise<T>): Promise<T> {
  const state = { isOver: false };
  const end = () => (state.isOver = true);
  calls.then(end, end);
  while (!state.isOver) await time.advance(50);
  return calls;
}

/** Runs `first` before the n-th write of a node, and holds the write until then. */
export function before(node: TestNode, write: number, first: () => Promise<unknown>): void {
  let count = 0;
  node.store.script = async (call, go) => {
    if (call === 'compareAndSet' && ++count === write) await first();
    return go();
  };
}
