import { type HistoryArchiveDefinition, fileHistoryArchive } from 'nestjs-gatekeeper';
import type { TestCluster } from '../../support/nodes.js';

/** Calls of the file system end in their own time. @param step ms of simulated time between two looks */
export async function until(
  nodes: TestCluster,
  isSo: () => boolean | Promise<boolean>,
  step: () => number = () => 0,
): Promise<void> {
  const deadline = Date.now() + 20_000;
  while (!(await isSo())) {
    if (Date.now() > deadline) throw new Error('it did not come');
    await nodes.time.advance(step());
  }
}

/**
 * An archive in a folder, for which simulated time can wait: else it may run past the time limit of a call that still
 * writes, and the call is made again.
 */
export function folderArchive(folder: string) {
  const { kind, open } = fileHistoryArchive({ folder });
  let [running, written] = [0, 0];
  const archive: HistoryArchiveDefinition = {
    kind,
    open: (node) => {
      const files = open(node);
      return {
        append: async (runs) => {
          running++;
          try {
            await files.append(runs);
            written += runs.length;
          } finally {
            running--;
          }
        },
        removeOld: (now) => files.removeOld!(now),
        close: () => files.close(),
      };
    },
  };
  /** @param count of runs that are written since `archive` was opened @param step ms of simulated time between two looks */
  const hasWritten = (nodes: TestCluster, count: number, step: number) =>
    until(
      nodes,
      () => written >= count,
      () => (running > 0 ? 0 : step),
    );
  return { archive, hasWritten };
}
