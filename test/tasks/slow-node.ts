import { type TaskCluster, worker } from './task-nodes.js';

/** A node whose attempts end when the test wants; `ran` has the data of each attempt. */
export function slow(cluster: TaskCluster) {
  const ran: unknown[] = [];
  const reasons: string[] = [];
  const ends: (() => void)[] = [];
  const node = worker(cluster, ({ data, signal }) => {
    ran.push(data);
    signal.addEventListener('abort', () => reasons.push((signal.reason as Error).message));
    return new Promise((resolve) => ends.push(() => resolve(`did ${String(data)}`)));
  });
  const end = async () => {
    ends.shift()!();
    await cluster.time.advance(100);
  };
  return { node, ran, reasons, end };
}
