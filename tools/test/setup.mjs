import { inspect } from 'node:util';
import { ModernFakeTimers } from '@jest/fake-timers';
import { addEventHandler } from 'jest-circus';
import { seed } from './seeded.mjs';

/**
 * Gives each test and hook a limit of time, and fails it for a rejection that no one handles while it runs. Jest's own
 * runner has the first only, and the light runner neither.
 */

/** A test that waits for ever ends here; a machine that is ten times as slow for a while does not. */
const LIMIT = 300_000;

const rejections = [];
process.on('unhandledRejection', (reason) => rejections.push(reason));
process.setSourceMapsEnabled(true);
if (process.env.SEEDED_SOURCES) await seed(JSON.parse(process.env.SEEDED_SOURCES));

addEventHandler((event, state) => {
  if (event.name === 'add_test') guard(state.currentDescribeBlock.children.at(-1));
  if (event.name === 'add_hook') guard(state.currentDescribeBlock.hooks.at(-1));
});

function guard(part) {
  const { fn, timeout = LIMIT } = part;
  if (fn === undefined) return;
  part.fn = async () => {
    try {
      await within(timeout, fn);
    } finally {
      // Node reports a rejection when all microtasks have run.
      await new Promise((resolve) => setImmediate(resolve));
    }
    const [reason] = rejections.splice(0);
    if (reason !== undefined) throw new Error(`No one handled a rejection: ${inspect(reason)}`);
  };
}

const { setTimeout, clearTimeout, setImmediate } = globalThis;

async function within(timeout, fn) {
  let timer;
  const limit = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`Not settled within ${timeout} ms`)), timeout);
  });
  try {
    return await Promise.race([fn(), limit]);
  } finally {
    clearTimeout(timer);
  }
}

/** Jest's fake timers: the light runner's lack some methods, and the choice of what is faked. */
const fake = new ModernFakeTimers({ config: { fakeTimers: {} }, global: globalThis });
Object.assign(jest, {
  useFakeTimers: (options) => fake.useFakeTimers(options),
  useRealTimers: () => fake.useRealTimers(),
  advanceTimersByTime: (ms) => fake.advanceTimersByTime(ms),
  advanceTimersByTimeAsync: (ms) => fake.advanceTimersByTimeAsync(ms),
  getTimerCount: () => fake.getTimerCount(),
});
