import { systemClock } from '../../../lib/core/async/node-clock.js';
import { memory } from '../../../lib/stores/memory/index.js';
import { ObservedStore } from '../../../lib/core/store/observed-store.js';
import { StoreUnavailableError } from '../../../lib/core/store/store.errors.js';
import type { TaskStorage } from '../../../lib/core/store/task-storage.js';

const signal = () => new AbortController().signal;
const opened = () => {
  const inner = memory().open();
  const store = new ObservedStore(() => inner, systemClock);
  return { inner, store, tasks: store.tasks!, facts: () => store.calls('tasks') };
};

const CALLS: [string, (tasks: TaskStorage) => Promise<unknown>][] = [
  ['read', ({ tasks }) => tasks.read('key')],
  ['readMany', ({ groups }) => groups.readMany(['key'])],
  ['create', ({ groups }) => groups.create('key', 'text')],
  ['replace', ({ tasks }) => tasks.replace('key', 'text', 'next')],
  ['remove', ({ tasks }) => tasks.remove('key', 'text')],
  ['range', ({ tasks }) => tasks.range('', 'z', 1)],
  ['offer', (tasks) => tasks.queue('queue').offer(['hint'])],
  ['poll', (tasks) => tasks.queue('queue').poll(0, signal())],
  ['drain', (tasks) => tasks.queue('queue').drain(1)],
  ['remove', (tasks) => tasks.queue('queue').remove(['hint'])],
  ['peek', (tasks) => tasks.queue('queue').peek()],
];

describe('The outcomes of calls for tasks', () => {
  it.each(CALLS)('show that %s was answered', async (_name, call) => {
    const { tasks, facts } = opened();
    await call(tasks);
    expect(facts().answeredAt).toBeDefined();
  });

  it.each(CALLS)('show that %s failed, until a call is answered', async (_name, call) => {
    const { inner, tasks, facts } = opened();
    await inner.close();
    await expect(call(tasks)).rejects.toThrow(StoreUnavailableError);
    expect(facts().failing?.error).toBeInstanceOf(StoreUnavailableError);
  });

  it('say nothing about records', async () => {
    const { inner, store, tasks } = opened();
    await inner.close();
    await expect(tasks.tasks.create('key', 'text')).rejects.toThrow(StoreUnavailableError);
    expect([store.calls('reads').failing, store.calls('writes').failing]).toEqual([undefined, undefined]);
  });

  it('do not take a poll that waits for a store without an answer', async () => {
    const { tasks, facts } = opened();
    const ending = new AbortController();
    const polled = tasks.queue('queue').poll(60_000, ending.signal);
    expect(facts().waitingSince).toBeUndefined();
    const read = tasks.tasks.read('key');
    expect(facts().waitingSince).toBeDefined();
    await read;
    ending.abort();
    await polled;
  });

  it('are absent for a store that keeps no tasks', () => {
    const inner = Object.assign(memory().open(), { tasks: undefined });
    expect(new ObservedStore(() => inner, systemClock).tasks).toBeUndefined();
  });
});
