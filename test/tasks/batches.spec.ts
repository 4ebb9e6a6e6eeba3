import { MOST_KEYS, type Driver, memory } from 'nestjs-gatekeeper';
import { systemClock } from '../../lib/core/async/node-clock.js';
import { systemRandomness } from '../../lib/core/async/random-ids.js';
import { Timers } from '../../lib/core/async/timers.js';
import type { Context, Timing } from '../../lib/core/context/context.js';
import { TextCells } from '../../lib/core/cell/text-cells.js';
import { Hints } from '../../lib/tasks/records/hints.js';
import { PacedStore } from '../../lib/tasks/records/paced-store.js';
import { HintSource } from '../../lib/tasks/workers/hint-source.js';

const CONTEXT = { nodeClock: systemClock, random: systemRandomness() } as Context;
const SIZES = [
  { size: 'large', length: 64 * 1024, read: [16, 15, 9], written: [16, 16, 8] },
  { size: 'small', length: 100, read: [16, 24], written: [40] },
];

describe.each(SIZES)('40 $size texts', ({ length, read, written }) => {
  /** In their order. */
  const texts = Array.from({ length: 40 }, (_, index) => `w|mail|1|00${1000 + index}|`.padEnd(length, 'x'));
  const keys = texts.map((_, index) => `key-${index}`);
  let storage: Driver;
  /** How many texts the store was asked for, or given, in each call. */
  let calls: number[];
  let timers: Timers;

  beforeEach(async () => {
    calls = [];
    timers = new Timers(systemClock);
    storage = memory().open();
    const { tasks } = storage;
    const [range, readMany, queue] = [tasks.range.bind(tasks), tasks.readMany.bind(tasks), storage.queue.bind(storage)];
    tasks.range = (from, to, limit) => (calls.push(limit), range(from, to, limit));
    tasks.readMany = (some) => (calls.push(some.length), readMany(some));
    storage.queue = (name) => {
      const hints = queue(name);
      const [offer, drain] = [hints.offer.bind(hints), hints.drain.bind(hints)];
      hints.offer = (some) => (calls.push(some.length), offer(some));
      hints.drain = (most) => (calls.push(most), drain(most));
      return hints;
    };
    for (const [index, text] of texts.entries()) await tasks.compareAndSet(keys[index]!, undefined, text);
  });

  it('are read in their order, so many at once that they are not too large', async () => {
    const rows = await new PacedStore(storage, systemClock).range('a', 'z', 40);
    expect(rows.map(({ text }) => text)).toEqual(texts);
    expect(calls).toEqual(read);
  });

  it('are read by their keys, so many at once that they are not too large', async () => {
    const found = await new TextCells(storage.tasks, {
      ...CONTEXT,
      timers,
      timing: { callTimeout: 1000 } as Timing,
    }).readMany([...keys, 'none']);
    expect([...found]).toEqual(texts.map((text, index) => [keys[index], text]));
    const last = read.at(-1)!;
    expect(calls).toEqual([...read.slice(0, -1), last + 1]);
  });

  it('are read by any number of keys, and the store is asked for no more than it must answer', async () => {
    const others = Array.from({ length: 3 * MOST_KEYS }, (_, index) => `none-${index}`);
    const found = await new TextCells(storage.tasks, {
      ...CONTEXT,
      timers,
      timing: { callTimeout: 1000 } as Timing,
    }).readMany([...keys, ...others]);
    expect([...found.keys()]).toEqual(keys);
    expect(Math.max(...calls)).toBe(MOST_KEYS);
  });

  it('are offered and taken as hints in their order, so many at once that they are not too large', async () => {
    const hints = new Hints(new PacedStore(storage, systemClock), CONTEXT);
    await Promise.all(texts.map((text) => hints.offer({ type: 'mail', priority: 'high' }, text)));
    expect(calls).toEqual(written);
    calls = [];
    const taken = await new HintSource('mail', hints, CONTEXT).takeNow(40);
    expect(taken.map(({ text }) => text)).toEqual(texts);
    expect(calls).toEqual(read);
  });
});
