import { forEachLimit } from '../../core/async/for-each-limit.js';
import { Slices } from '../../core/async/slices.js';
import type { Context } from '../../core/context/context.js';
import { StoreUnavailableError, isStoreError } from '../../core/store/index.js';

/**
 * Runs `work` for each item. A failure of one item does not stop the others. But if the store does not answer, the
 * rest is skipped, because each further call would only wait.
 *
 * @returns the failures
 * @throws StoreUnavailableError if nothing was done and surely nothing was changed
 */
export async function eachWhileAnswered<Item>(
  items: readonly Item[],
  { nodeClock }: Pick<Context, 'nodeClock'>,
  work: (item: Item) => Promise<void>,
): Promise<Map<Item, unknown>> {
  const slices = Slices.of(nodeClock);
  const failed = new Map<Item, unknown>();
  let count = 0;
  const attempt = async (item: Item) => {
    await slices.turn();
    await work(item).catch((error: unknown) => {
      failed.set(item, error);
      if (isStoreError(error)) throw error;
    });
    count++;
  };
  await forEachLimit(items, attempt).catch((error: unknown) => {
    if (!isStoreError(error)) throw error;
    const isUntouched = count === 0 && [...failed.values()].every((each) => each instanceof StoreUnavailableError);
    if (isUntouched) throw error;
  });
  return failed;
}
