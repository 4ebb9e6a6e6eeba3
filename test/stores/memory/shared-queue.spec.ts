import { expect, it } from '@jest/globals';
import { SharedQueue } from '../../../lib/stores/memory/tasks/shared-queue.js';

const hintsOf = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, index) => `w|mail|1|${String(from + index).padStart(16, '0')}|3f2a|{}`);

it('a removal of thousands of hints from a long queue does not block the event loop', () => {
  const queue = new SharedQueue();
  queue.offer(hintsOf(0, 100_000));
  const begun = performance.now();
  queue.remove(hintsOf(98_000, 100_000));
  expect(performance.now() - begun).toBeLessThan(200); // one after another, they take seconds
  expect(queue.size).toBe(98_000);
});

it('a removal takes each hint once, at both ends, and leaves the order of the others', () => {
  const queue = new SharedQueue();
  queue.offer(['taken', 'a', 'b', 'a', ...hintsOf(0, 25_000), 'b', 'c', 'a']);
  queue.drain(1);
  queue.remove(['a', 'a', 'c', 'b', 'none']);
  expect(queue.drain(30_000)).toEqual([...hintsOf(0, 25_000), 'b', 'a']);
});
