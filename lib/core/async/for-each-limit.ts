/** Concurrent calls of one kind: enough to keep the store busy, few enough that other calls don't wait. */
const LIMIT = 32;

/**
 * Does `work` for every item, up to {@link LIMIT} at the same time. After the first failure it starts no new work.
 *
 * @throws the first failure, after all started work has ended
 */
export async function forEachLimit<Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> {
  const waiting = items.values();
  const errors: unknown[] = [];
  const flow = async () => {
    for (const item of waiting) {
      await work(item).catch((error: unknown) => errors.push(error));
      if (errors.length > 0) return;
    }
  };
  const flows: Promise<void>[] = [];
  while (flows.length < Math.min(LIMIT, items.length)) flows.push(flow());
  await Promise.all(flows);
  if (errors.length > 0) throw errors[0];
}
