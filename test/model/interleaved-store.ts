import type fc from 'fast-check';
import { type Driver, type StoreDefinition, memory } from 'nestjs-gatekeeper';
import type { NodeClock } from '../../lib/core/async/node-clock.js';

export const START = 1_790_000_000_000;

/** Time stands still, so that nothing expires and nothing times out: only the order of what happens is at stake. */
export const stillClock: NodeClock = {
  monotonic: () => 0,
  nextTurn: setImmediate,
  wall: () => START,
  schedule(action, delay) {
    if (delay >= 1) return () => undefined;
    const turn = setImmediate(action);
    return () => clearImmediate(turn);
  },
};

/** A store whose every call takes its turn, there and back, where the scheduler puts it. */
export function interleaved(scheduler: fc.Scheduler): StoreDefinition & { readonly raw: Driver } {
  const definition = memory({ clock: () => START });
  const open = (): Driver => {
    const store = definition.open();
    const inTurn = async <T>(what: string, call: () => Promise<T>): Promise<T> => {
      await scheduler.schedule(Promise.resolve(), `${what} sent`);
      const answer = await call();
      return scheduler.schedule(Promise.resolve(answer), `${what} answered`);
    };
    return {
      records: {
        read: (key) => inTurn('read', () => store.records.read(key)),
        compareAndSet: (key, expected, next) => inTurn('write', () => store.records.compareAndSet(key, expected, next)),
        page: (prefix, after) => store.records.page(prefix, after),
        readMany: (keys) => store.records.readMany(keys),
      },
      tasks: store.tasks,
      groups: store.groups,
      queue: (name) => store.queue(name),
      // Hints come in any order, too.
      watch: (prefix, onChange) =>
        store.watch(prefix, (change) => void inTurn('news', async () => undefined).then(() => onChange(change))),
      awaitChanges: (key) => store.awaitChanges?.(key) ?? (() => undefined),
      journal: (name) => store.journal(name),
      now: () => store.now(),
      health: () => store.health(),
      close: () => store.close(),
    };
  };
  return { kind: 'interleaved', open, raw: definition.open() };
}
