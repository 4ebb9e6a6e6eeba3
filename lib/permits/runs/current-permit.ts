import { AsyncLocalStorage } from 'node:async_hooks';
import { NoCurrentPermitError } from '../permits.errors.js';
import type { RunPermit } from './run-permit.js';

/**
 * A separate storage: it can't clash with a request context, and works without a request, for example in cron methods.
 */
const storage = new AsyncLocalStorage<RunPermit>();

/**
 * Returns the permit of the guarded run that this code belongs to. Works in nested calls and after awaits.
 *
 * @throws NoCurrentPermitError outside a run of `@ClusterSingleton` or `gatekeeper.run()`
 */
export function currentPermit(): RunPermit {
  const permit = storage.getStore();
  if (!permit) throw new NoCurrentPermitError();
  return permit;
}

/** Whether this code belongs to a run under the permit with this token. */
export function isUnderPermit({ semaphore, token }: Pick<RunPermit, 'semaphore' | 'token'>): boolean {
  const permit = storage.getStore();
  return permit?.semaphore === semaphore && permit.token === token;
}

/** Runs `work`. In it, {@link currentPermit} returns `permit`. */
export function withPermit<T>(permit: RunPermit, work: () => T): T {
  return storage.run(permit, work);
}
