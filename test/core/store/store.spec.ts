import { systemClock } from '../../../lib/core/async/node-clock.js';
import { Timers } from '../../../lib/core/async/timers.js';
import { memory } from '../../../lib/stores/memory/index.js';
import { Store } from '../../../lib/core/store/store.js';
import { StoreUnavailableError, UnknownOutcomeError } from '../../../lib/core/store/store.errors.js';
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
