import type { HintQueue, SortedTexts, TaskStorage, Texts } from './task-storage.js';

/** Runs a call and records its outcome. */
export interface CallObserver {
  observed<T>(call: () => Promise<T>): Promise<T>;
  /** For a call that may write. Its errors say whether it surely did not. */
  written<T>(call: () => Promise<T>): Promise<T>;
  /** For a call that waits for something to happen: that it takes long says nothing about the store. */
  observedEnd<T>(call: () => Promise<T>): Promise<T>;
}

/** Forwards every call for tasks, and records the outcomes. */
export function observedTasks(inner: TaskStorage, observer: CallObserver): TaskStorage {
  const { tasks, groups } = inner;
  return {
    tasks: {
      ...observedTexts(tasks, observer),
      range: (from, to, limit) => observer.observed(() => tasks.range(from, to, limit)),
    } satisfies SortedTexts,
    groups: observedTexts(groups, observer),
    queue: (name) => observedQueue(inner.queue(name), observer),
    // Not observed: the application's connection says nothing about those of the store.
    ...(inner.within && { within: (transaction) => inner.within!(transaction) }),
  };
}

function observedTexts(inner: Texts, { observed, written }: CallObserver): Texts {
  return {
    read: (key) => observed(() => inner.read(key)),
    readMany: (keys) => observed(() => inner.readMany(keys)),
    create: (key, text) => written(() => inner.create(key, text)),
    replace: (key, expected, next) => written(() => inner.replace(key, expected, next)),
    remove: (key, expected) => written(() => inner.remove(key, expected)),
  };
}

function observedQueue(inner: HintQueue, { observed, written, observedEnd }: CallObserver): HintQueue {
  return {
    offer: (hints) => written(() => inner.offer(hints)),
    poll: (patience, signal) => observedEnd(() => inner.poll(patience, signal)),
    drain: (most) => observed(() => inner.drain(most)),
    remove: (hints) => written(() => inner.remove(hints)),
    peek: () => observed(() => inner.peek()),
    size: () => observed(() => inner.size()),
  };
}
