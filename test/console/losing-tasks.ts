import { type StoreDefinition, StoreUnavailableError, UnknownOutcomeError, memory } from 'nestjs-gatekeeper';
import { interceptWrites } from '../support/writes.js';

/**
 * A store whose tasks the test takes away, at once or with the answer of the next write, and gives back. Its semaphores
 * stay.
 */
export function losingTasks() {
  const inner = memory();
  let isLost = false;
  let losesNext = false;
  const open: StoreDefinition['open'] = (options) => {
    const store = inner.open(options);
    const { tasks, groups } = store;
    for (const [texts, methods] of [
      [tasks, ['read', 'readMany', 'range']],
      [groups, ['read', 'readMany']],
    ] as const) {
      for (const method of methods) {
        const call = Reflect.get(texts, method).bind(texts) as (...args: unknown[]) => Promise<never>;
        const perhaps = (...args: unknown[]) =>
          isLost ? Promise.reject(new StoreUnavailableError('the connection was lost')) : call(...args);
        Object.assign(texts, { [method]: perhaps });
      }
      interceptWrites(texts, 'replace', async (go) => {
        const isReplaced = await go();
        if (!losesNext) return isReplaced;
        [losesNext, isLost] = [false, true];
        throw new UnknownOutcomeError('no answer');
      });
    }
    return store;
  };
  const store: StoreDefinition = { ...inner, open };
  return {
    store,
    takeAway: () => (isLost = true),
    loseNextAnswer: () => (losesNext = true),
    giveBack: () => (isLost = false),
  };
}
