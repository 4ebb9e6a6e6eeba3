import { Deadline, DeadlinePassed } from '../../../lib/core/async/deadline.js';
import { systemClock } from '../../../lib/core/async/node-clock.js';
import { Timers } from '../../../lib/core/async/timers.js';
import { memory } from '../../../lib/stores/memory/index.js';
import { Store } from '../../../lib/core/store/store.js';
import { StoreUnavailableError, UnknownOutcomeError } from '../../../lib/core/store/store.errors.js';
import { FakeTime, settled } from '../../support/fake-time.js';
import { ScriptedStore } from '../../support/scripted-store.js';

/** A store of which every write loses its answer when `lose` is called, at a time that the test sets. */
function opened() {
  const inner = new ScriptedStore(memory().open());
  const clock = { ...systemClock, at: 0, monotonic: () => clock.at };
  const lost: (() => void)[] = [];
  inner.script = () =>
    new Promise<never>((_, reject) => lost.push(() => reject(new UnknownOutcomeError('no answer within 1 s'))));
  const store = new Store({ open: () => inner, timers: new Timers(clock), callTimeout: 60_000 });
  const write = (at: number) => {
    clock.at = at;
    return store.records.compareAndSet('key', undefined, 'text').catch((error: unknown) => error);
  };
  const lose = async (at: number, writes: readonly Promise<unknown>[]) => {
    clock.at = at;
    for (const loseOne of lost.splice(0)) loseOne();
    await Promise.all(writes);
  };
  return { inner, store, clock, write, lose };
}

describe('Failed calls', () => {
  it('that are lost together count once', async () => {
    const { store, write, lose } = opened();
    await lose(3000, [write(0), write(1000), write(2999)]);
    expect(store.calls('writes').failing).toMatchObject({ since: 0, firstAt: 3000, lastAt: 3000, isRepeated: false });
  });

  it('count as repeated if one began after the first had failed, even while others end', async () => {
    const { store, write, lose } = opened();
    await lose(1000, [write(0)]);
    const later = [write(1000), write(1500)];
    await lose(2500, later);
    expect(store.calls('writes').failing).toMatchObject({ since: 0, firstAt: 1000, lastAt: 2500, isRepeated: true });
    await lose(3500, [write(2000)]);
    expect(store.calls('writes').failing).toMatchObject({ since: 0, lastAt: 3500, isRepeated: true });
  });

  it('of lists stay while single records are read, also by a clock that never shows one time twice', async () => {
    const { inner, store, clock } = opened();
    clock.monotonic = () => clock.at++;
    inner.script = (call, go) => (call === 'page' ? Promise.reject(new StoreUnavailableError('refused')) : go());
    await expect(store.records.list('nodes:')).rejects.toThrow('refused');
    await store.records.read('key');
    expect(store.calls('nodes').failing?.error.message).toBe('refused');
  });

  it.each([
    ['stay while reads are answered in another order than they were asked', 1, 'refused'],
    ['are forgotten when a read is answered after another one hung for a second', 1000, undefined],
  ])('of lists %s', async (_when, later, left) => {
    const { inner, store, clock } = opened();
    const answers: (() => void)[] = [];
    inner.script = (call) =>
      call === 'page'
        ? Promise.reject(new StoreUnavailableError('refused'))
        : new Promise((resolve) => answers.push(() => resolve('text')));
    await expect(store.records.list('nodes:')).rejects.toThrow('refused');
    const first = store.records.read('key');
    clock.at += later;
    const second = store.records.read('other key');
    answers[1]!();
    await second;
    expect(store.calls('nodes').failing?.error.message).toBe(left);
    answers[0]!();
    await first;
  });

  it('are forgotten with the first answer', async () => {
    const { inner, store, write, lose } = opened();
    await lose(1000, [write(0)]);
    await lose(2000, [write(1000)]);
    inner.script = undefined;
    await write(2000);
    expect(store.calls('writes')).toMatchObject({ failing: undefined, answeredAt: 2000 });
  });
});

describe('The outcomes of calls for tasks', () => {
  const { signal } = new AbortController();
  const ready = () => {
    const inner = memory().open();
    const store = new Store({ open: () => inner, timers: new Timers(systemClock), callTimeout: 60_000 });
    return { inner, store, facts: () => store.calls('tasks') };
  };

  const CALLS: [string, (store: Store) => Promise<unknown>][] = [
    ['read', ({ tasks }) => tasks.read('key')],
    ['readMany', ({ groups }) => groups.readMany(['key'])],
    ['compareAndSet that creates', ({ groups }) => groups.compareAndSet('key', undefined, 'text')],
    ['compareAndSet that replaces', ({ tasks }) => tasks.compareAndSet('key', 'text', 'next')],
    ['compareAndSet that removes', ({ tasks }) => tasks.compareAndSet('key', 'text', undefined)],
    ['range', ({ tasks }) => tasks.range('', 'z', 1)],
    ['offer', (store) => store.queue('queue').offer(['hint'])],
    ['poll', (store) => store.queue('queue').poll(0, signal)],
    ['drain', (store) => store.queue('queue').drain(1)],
    ['remove', (store) => store.queue('queue').remove(['hint'])],
    ['peek', (store) => store.queue('queue').peek()],
  ];

  it.each(CALLS)('show that %s was answered', async (_name, call) => {
    const { store, facts } = ready();
    await call(store);
    expect(facts().answeredAt).toBeDefined();
  });

  it.each(CALLS)('show that %s failed, until a call is answered', async (_name, call) => {
    const { inner, store, facts } = ready();
    await inner.close();
    await expect(call(store)).rejects.toThrow(StoreUnavailableError);
    expect(facts().failing?.error).toBeInstanceOf(StoreUnavailableError);
  });

  it('say nothing about records', async () => {
    const { inner, store } = ready();
    await inner.close();
    await expect(store.tasks.compareAndSet('key', undefined, 'text')).rejects.toThrow(StoreUnavailableError);
    expect([store.calls('reads').failing, store.calls('writes').failing]).toEqual([undefined, undefined]);
  });

  it('do not take a poll that waits for a store without an answer', async () => {
    const { store, facts } = ready();
    const ending = new AbortController();
    const polled = store.queue('queue').poll(60_000, ending.signal);
    expect(facts().waitingSince).toBeUndefined();
    const read = store.tasks.read('key');
    expect(facts().waitingSince).toBeDefined();
    await read;
    ending.abort();
    await polled;
  });
});

describe('A call of the store', () => {
  const hang = () => new Promise<never>(() => undefined);
  const names = ['records', 'tasks', 'groups'] as const;

  /** A store whose driver never answers, with time that the test moves. */
  function hanging() {
    const time = new FakeTime();
    const timers = new Timers(time);
    const driver = memory().open();
    for (const name of names) Object.assign(driver[name], { read: hang, readMany: hang, compareAndSet: hang });
    Object.assign(driver.records, { page: hang });
    Object.assign(driver.tasks, { range: hang });
    const queue = { offer: hang, poll: hang, drain: hang, remove: hang, peek: hang, size: hang };
    Object.assign(driver, { now: hang, queue: () => queue, journal: () => ({ append: hang, read: hang }) });
    return { time, timers, driver, queue, store: new Store({ open: () => driver, timers, callTimeout: 1000 }) };
  }

  const { signal } = new AbortController();
  const READS: [string, (store: Store) => Promise<unknown>][] = [
    ...names.flatMap((name): [string, (store: Store) => Promise<unknown>][] => [
      [`read of ${name}`, (store) => store[name].read('key')],
      [`readMany of ${name}`, (store) => store[name].readMany(['key'])],
    ]),
    ['range', ({ tasks }) => tasks.range('a', 'b', 1)],
    ['now', (store) => store.now()],
    ['drain', (store) => store.queue('q').drain(1)],
    ['peek', (store) => store.queue('q').peek()],
    ['size', (store) => store.queue('q').size()],
    ['read of a journal', (store) => store.journal('runs').read(1)],
  ];
  const WRITES: [string, (store: Store) => Promise<unknown>][] = [
    ...names.map((name): [string, (store: Store) => Promise<unknown>] => [
      `compareAndSet of ${name}`,
      (store) => store[name].compareAndSet('key', undefined, 'text'),
    ]),
    ['offer', (store) => store.queue('q').offer(['hint'])],
    ['removal of hints', (store) => store.queue('q').remove(['hint'])],
    ['append', (store) => store.journal('runs').append(['text'])],
  ];

  /** How a call has ended by now. */
  async function endOf(call: Promise<unknown>): Promise<unknown> {
    const ended = call.then(
      (answer) => ({ answer }),
      (error: unknown) => error,
    );
    return Promise.race([ended, settled().then(() => 'pending')]);
  }

  it.each(READS)('that reads ends in time, as unavailable: %s', async (_name, call) => {
    const { time, store } = hanging();
    const reading = call(store);
    await time.advance(999);
    expect(await endOf(reading)).toBe('pending');
    await time.advance(1);
    expect(await endOf(reading)).toBeInstanceOf(StoreUnavailableError);
  });

  it.each(WRITES)('that writes ends in time, and its outcome is unknown: %s', async (_name, call) => {
    const { time, store } = hanging();
    const writing = call(store);
    await time.advance(999);
    expect(await endOf(writing)).toBe('pending');
    await time.advance(1);
    expect(await endOf(writing)).toBeInstanceOf(UnknownOutcomeError);
  });

  it('for a page has five times as long: it may be large', async () => {
    const { time, store } = hanging();
    const listing = store.records.list('semaphore:');
    await time.advance(4999);
    expect(await endOf(listing)).toBe('pending');
    await time.advance(1);
    expect(await endOf(listing)).toBeInstanceOf(StoreUnavailableError);
  });

  it('that is a part of a larger call ends with its deadline', async () => {
    const { time, timers, store } = hanging();
    const deadline = new Deadline(timers, 300);
    const parts = [
      store.records.read('key', { deadline }),
      store.tasks.compareAndSet('key', undefined, 'text', { deadline }),
    ];
    const ends = Promise.all(parts.map(endOf));
    expect(await ends).toEqual(['pending', 'pending']);
    const ended = Promise.allSettled(parts);
    await time.advance(300);
    expect(await ended).toMatchObject([
      { reason: expect.any(StoreUnavailableError) },
      { reason: expect.any(UnknownOutcomeError) },
    ]);
  });

  it('ends when the node closes its timers', async () => {
    const { timers, store } = hanging();
    const calls = [store.records.read('key'), store.records.compareAndSet('key', undefined, 'text')];
    const poll = store.queue('q').poll(5000, signal);
    timers.close();
    expect(await endOf(calls[0]!)).toBeInstanceOf(StoreUnavailableError);
    expect(await endOf(calls[1]!)).toBeInstanceOf(UnknownOutcomeError);
    expect(await endOf(poll)).toEqual({ answer: undefined });
  });

  it('that polls ends without a hint after its patience and one call, and then takes none', async () => {
    const { time, queue, store } = hanging();
    let given: AbortSignal | undefined;
    Object.assign(queue, { poll: (_patience: number, its: AbortSignal) => ((given = its), hang()) });
    const poll = store.queue('q').poll(5000, signal);
    await time.advance(5999);
    expect(await endOf(poll)).toBe('pending');
    expect(given!.aborted).toBe(false);
    await time.advance(1);
    expect(await endOf(poll)).toEqual({ answer: undefined });
    expect(given!.aborted).toBe(true);
  });

  it('that polls fails as the driver does, also when the driver gave up by itself', async () => {
    const { queue, store } = hanging();
    const error = new StoreUnavailableError('no answer', { cause: new DeadlinePassed() });
    Object.assign(queue, { poll: () => Promise.reject(error) });
    expect(await endOf(store.queue('q').poll(5000, signal))).toBe(error);
  });

  it('shows the driver only what it knows of', async () => {
    const { timers, driver, store } = hanging();
    const given: unknown[] = [];
    Object.assign(driver.records, { compareAndSet: async (...args: unknown[]) => (given.push(args), true) });
    const deadline = new Deadline(timers, 300);
    await store.records.compareAndSet('key', undefined, 'text', { deadline, notify: 'none' });
    await store.records.compareAndSet('key', 'text', 'next', { deadline });
    expect(given).toEqual([
      ['key', undefined, 'text', { notify: 'none' }],
      ['key', 'text', 'next', undefined],
    ]);
  });
});
