import { expect, it } from '@jest/globals';
import { Slices } from '../../lib/async/slices.js';

it('work that goes on side by side shares each slice', async () => {
  let now = 0;
  let inTurn = 0;
  let most = 0;
  const slices = new Slices({ monotonic: () => now, nextTurn: setImmediate });
  const tick = () => {
    inTurn = 0;
    next = setImmediate(tick);
  };
  let next = setImmediate(tick);
  const work = async () => {
    for (let count = 0; count < 20; count++) {
      await slices.turn();
      now++;
      most = Math.max(most, ++inTurn);
    }
  };
  await Promise.all(Array.from({ length: 32 }, work));
  clearImmediate(next);
  // 5 ms of one slice, and one piece of each that waited for it.
  expect(most).toBeLessThanOrEqual(5 + 32);
});
