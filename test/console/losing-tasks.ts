import { type StoreDefinition, StoreUnavailableError, memory } from 'nestjs-gatekeeper';

/** A store whose tasks the test takes away. Its semaphores stay. */
export function losingTasks(): { readonly store: StoreDefinition; readonly takeAway: () => void } {
  const inner = memory();
  let isLost = false;
  const open: StoreDefinition['open'] = (options) => {
    const store = inner.open(options);
    const { tasks } = store.tasks!;
    for (const method of ['read', 'readMany', 'range'] as const) {
      const call = tasks[method].bind(tasks) as (...args: unknown[]) => Promise<never>;
      const perhaps = (...args: unknown[]) =>
        isLost ? Promise.reject(new StoreUnavailableError('the connection was lost')) : call(...args);
      Object.assign(tasks, { [method]: perhaps });
    }
    return store;
  };
  return { store: { ...inner, open }, takeAway: () => (isLost = true) };
}
