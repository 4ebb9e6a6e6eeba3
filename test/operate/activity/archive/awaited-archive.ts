import type { HistoryArchiveDefinition } from 'nestjs-gatekeeper';
import type { TestCluster } from '../../../support/nodes.js';

/** Calls of a file system or a database end in their own time. @param step ms of simulated time between two looks */
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
 * An archive for which simulated time can wait: else it may run past the time limit of a call that goes on, and the call
 * is made again.
 */
export function awaitedArchive({ kind, open }: HistoryArchiveDefinition) {
  let [running, written] = [0, 0];
  const counted = async <T>(call: Promise<T>): Promise<T> => {
    running++;
    try {
      return await call;
    } finally {
      running--;
    }
  };
  const archive: HistoryArchiveDefinition = {
    kind,
    open: (node) => {
      const inner = open(node);
      return {
        append: async (runs) => {
          await counted(inner.append(runs));
          written += runs.length;
        },
        removeOld: (now) => counted(inner.removeOld!(now)),
        close: () => inner.close(),
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
