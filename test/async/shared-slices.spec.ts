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

it('the texts of work that goes on side by side share the characters of each turn', async () => {
  let inTurn = 0;
  let most = 0;
  // No time passes, as for work that looks at the slice long before it takes time.
  const slices = new Slices({ monotonic: () => 0, nextTurn: setImmediate });
  const tick = () => {
    inTurn = 0;
    next = setImmediate(tick);
  };
  let next = setImmediate(tick);
  const work = async () => {
    for (let count = 0; count < 5; count++) {
      await slices.turn(64 * 1024);
      most = Math.max(most, ++inTurn);
    }
  };
  await Promise.all(Array.from({ length: 32 }, work));
  clearImmediate(next);
  expect(most).toBe(8);
});

it('a text that is larger than all of a turn has a turn of its own', async () => {
  const slices = new Slices({ monotonic: () => 0, nextTurn: setImmediate });
  let turn = 0;
  const tick = () => {
    turn++;
    next = setImmediate(tick);
  };
  let next = setImmediate(tick);
  const turns: number[] = [];
  const work = async () => {
    await slices.turn(1024 * 1024);
    turns.push(turn);
  };
  await Promise.all([work(), work(), work()]);
  clearImmediate(next);
  expect(new Set(turns).size).toBe(3);
});
