import { Slices } from '../../../lib/core/async/slices.js';

/**
 * Lets 32 pieces of work go on side by side.
 *
 * @param item called at the begin of each item
 * @returns the numbers of items in the turns of the event loop
 */
async function itemsPerTurn(slices: Slices, items: number, characters: number, item: () => void): Promise<number[]> {
  const counts = [0];
  const tick = () => {
    counts.push(0);
    next = setImmediate(tick);
  };
  let next = setImmediate(tick);
  const work = async () => {
    for (let count = 0; count < items; count++) {
      await slices.turn(characters);
      counts.push(counts.pop()! + 1);
      item();
    }
  };
  await Promise.all(Array.from({ length: 32 }, work));
  clearImmediate(next);
  return counts.filter((count) => count > 0);
}

it('work that goes on side by side shares each slice', async () => {
  let now = 0;
  const slices = new Slices({ monotonic: () => now, nextTurn: setImmediate });
  const counts = await itemsPerTurn(slices, 20, 0, () => now++);
  // 5 ms of one slice, and one piece of each that came by before any took time.
  const [first, ...later] = counts;
  expect(first).toBeLessThanOrEqual(5 + 32);
  expect(new Set(later.slice(0, -1))).toEqual(new Set([5]));
});

/** No time passes, as for work that looks at the slice long before it takes time. */
const timeless = () => new Slices({ monotonic: () => 0, nextTurn: setImmediate });

it('the texts of work that goes on side by side share the characters of each turn', async () => {
  const counts = await itemsPerTurn(timeless(), 5, 64 * 1024, () => undefined);
  expect(new Set(counts)).toEqual(new Set([8]));
});

it('a text that is larger than all of a turn has a turn of its own', async () => {
  const counts = await itemsPerTurn(timeless(), 1, 1024 * 1024, () => undefined);
  expect(counts).toEqual(Array.from({ length: 32 }, () => 1));
});

it('each waiter gets its turn, although other work begins anew in each turn and uses up the slice', async () => {
  let now = 0;
  const slices = new Slices({ monotonic: () => now, nextTurn: setImmediate });
  /** Pieces of work, which look only whether the slice is over. */
  const useUp = () => {
    while (!slices.isOver) now++;
  };
  useUp();
  const busy = () => {
    useUp();
    next = setImmediate(busy);
  };
  let next = setImmediate(busy);
  const order: number[] = [];
  const work = async (each: number) => {
    await slices.turn();
    order.push(each);
  };
  await Promise.all([1, 2, 3].map(work));
  clearImmediate(next);
  expect(order).toEqual([1, 2, 3]);
});
