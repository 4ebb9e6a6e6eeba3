import { SharedQueue } from '../../../../lib/stores/memory/shared-queue.js';
import { threadCpu } from '../../../../test/console/longest-block.js';
import { hintsOf } from '../../../../test/stores/memory/hints.js';

it('a removal of thousands of hints from a long queue does not block the event loop', () => {
  const queue = new SharedQueue();
  queue.offer(hintsOf(0, 100_000));
  const begun = threadCpu();
  queue.remove(hintsOf(98_000, 100_000));
  expect(threadCpu() - begun).toBeLessThan(200); // one after another, they take seconds
  expect(queue.size).toBe(98_000);
});
