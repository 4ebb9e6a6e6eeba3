import { SharedQueue } from '../../../lib/stores/memory/shared-queue.js';
import { hintsOf } from './hints.js';

it('a removal takes each hint once, at both ends, and leaves the order of the others', () => {
  const queue = new SharedQueue();
  queue.offer(['taken', 'a', 'b', 'a', ...hintsOf(0, 25_000), 'b', 'c', 'a']);
  queue.drain(1);
  queue.remove(['a', 'a', 'c', 'b', 'none']);
  expect(queue.drain(30_000)).toEqual([...hintsOf(0, 25_000), 'b', 'a']);
});
