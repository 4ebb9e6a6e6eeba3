import { setTimeout as pause } from 'node:timers/promises';

/**
 * Waits until `attempt` neither throws nor answers false.
 *
 * @param within deadline in ms
 * @throws what the last attempt threw, or an error that names `what`
 */
export async function eventually<T>(
  what: string,
  attempt: () => T | Promise<T>,
  within = 20_000,
): Promise<Exclude<T, false>> {
  const deadline = performance.now() + within;
  for (;;) {
    const outcome = await settle(attempt);
    if (outcome.done) return outcome.value;
    if (performance.now() > deadline) throw outcome.error ?? new Error(`Not within ${within} ms: ${what}`);
    await pause(5);
  }
}

async function settle<T>(
  attempt: () => T | Promise<T>,
): Promise<{ done: true; value: Exclude<T, false> } | { done: false; error?: unknown }> {
  try {
    const value = await attempt();
    return value === false ? { done: false } : { done: true, value: value as Exclude<T, false> };
  } catch (error) {
    return { done: false, error };
  }
}
