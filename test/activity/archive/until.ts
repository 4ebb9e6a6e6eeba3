import type { TestCluster } from '../../support/nodes.js';

/** Calls of the file system end in their own time. @param step ms of simulated time between two looks */
export async function until(nodes: TestCluster, isSo: () => boolean | Promise<boolean>, step = 0): Promise<void> {
  const deadline = Date.now() + 20_000;
  while (!(await isSo())) {
    if (Date.now() > deadline) throw new Error('it did not come');
    await nodes.time.advance(step);
  }
}
