import { AsyncLocalStorage } from 'node:async_hooks';
import { NoCurrentPermitError } from '../permits.errors.js';
import type { RunPermit } from './run-permit.js';

/** Our own storage: no clash with a request context, and it works where there is no request, as in cron methods. */
const storage = new AsyncLocalStorage<RunPermit>();

/**
 * The permit of the guarded run that this code is part of, also deep inside calls and across awaits.
 *
 * @throws NoCurrentPermitError outside a run of `@ClusterSingleton` or `gatekeeper.run()`
 */
export function currentPermit(): RunPermit {
  const permit = storage.getStore();
  if (!permit) throw new NoCurrentPermitError();
  return permit;
}

/** Runs `work` so that {@link currentPermit} gives `permit` in it. */
export function withPermit<T>(permit: RunPermit, work: () => T): T {
  return storage.run(permit, work);
}
