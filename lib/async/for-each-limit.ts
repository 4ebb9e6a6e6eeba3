/** How many calls of one kind are under way at once: enough to keep the store at work, not so many that others wait. */
const LIMIT = 32;

/**
 * Does `work` for every item, a few at a time. After the first failure it begins no further one.
 *
 * @throws the first failure, once all work that was begun has ended
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
