import { setImmediate as nextTurn } from 'node:timers/promises';
import { eventually } from './eventually.js';

/** Flows that write at once. */
export const FLOWS = 10;

/** A write, and how its call ended. True: it was made. */
interface Step {
  readonly outcome: boolean | Error;
}

/**
 * Repeats writes in several flows, each until its first write that fails.
 *
 * @param steps each makes the next write of a flow, after its former one; the flows are divided among them
 * @param stop makes the writes fail; gets a promise that resolves when all flows have ended
 */
export async function writeUntil<S extends Step>(
  steps: readonly ((former: S | undefined) => Promise<S>)[],
  stop: (all: Promise<unknown>) => Promise<unknown>,
): Promise<S[]> {
  const written: S[] = [];
  const flow = async (next: (former: S | undefined) => Promise<S>, index: number) => {
    // The flows must not be in step: then all writes could be between two calls when `stop` comes.
    for (let turn = 0; turn < index; turn++) await nextTurn();
    for (let step: S | undefined; (step?.outcome ?? true) === true; written.push(step)) {
      step = await next(step);
      // A store in memory answers without a turn of the event loop.
      await nextTurn();
    }
  };
  const flows = Promise.all(Array.from({ length: FLOWS }, (_, index) => flow(steps[index % steps.length]!, index)));
  await eventually('writes are under way', () => written.length > FLOWS * 5);
  await stop(flows);
  await flows;
  return written;
}
