import { inspect } from 'node:util';
import { ModernFakeTimers } from '@jest/fake-timers';
import { addEventHandler } from 'jest-circus';
import { disableStorages, leftovers, remember } from './leftovers.mjs';
import { seed } from './seeded.mjs';
import { nameSources } from './stack-traces.mjs';

/**
 * What Jest's own runner has and the light runner has not: a limit of time for each test and hook, tests that are to fail,
 * fake timers, and a file that fails for what it leaves behind. And what both have not: an error that no one handles
 * fails the test in which it occurs.
 */

/** A test that waits for ever ends here; a machine that is ten times as slow for a while does not. */
const LIMIT = 300_000;

const unhandled = [];
process.on('unhandledRejection', (reason) => unhandled.push(`No one handled a rejection: ${inspect(reason)}`));
process.on('uncaughtException', (error) => unhandled.push(`No one caught an error: ${inspect(error)}`));
nameSources();
if (process.env.SEEDED_SOURCES) await seed(JSON.parse(process.env.SEEDED_SOURCES));

/** Hook of each file that comes after all else. */
const last = { type: 'afterAll', fn: checkLeftovers };

addEventHandler((event, { currentDescribeBlock, rootDescribeBlock: { hooks } }) => {
  if (event.name !== 'add_test' && event.name !== 'add_hook') return;
  guard(event.name === 'add_test' ? currentDescribeBlock.children.at(-1) : currentDescribeBlock.hooks.at(-1));
  if (hooks.includes(last)) hooks.splice(hooks.indexOf(last), 1);
  hooks.push(last);
});

function guard(part) {
  const { fn, timeout = LIMIT } = part;
  if (fn === undefined) return;
  const run = async () => {
    const failures = await within(timeout, fn).then(
      () => [],
      (error) => [error],
    );
    // Node reports a rejection when all microtasks have run.
    await new Promise((resolve) => setImmediate(resolve));
    failures.push(...unhandled.splice(0).map((text) => new Error(text)));
    for (const other of failures.slice(1)) console.error(other);
    if (failures.length > 0) throw failures[0];
  };
  part.fn = part.failing ? () => expectFailure(run) : run;
}

async function expectFailure(run) {
  const hasFailed = await run().then(
    () => false,
    () => true,
  );
  if (!hasFailed) throw new Error('It is marked as failing, and passed: remove the mark');
}

async function checkLeftovers() {
  const left = leftovers();
  // What a test has just closed may need a turn.
  await new Promise((resolve) => setImmediate(resolve));
  left.push(...unhandled.splice(0));
  disableStorages();
  if (left.length > 0) throw new Error(left.join('\n'));
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
remember();
