import { AsyncLocalStorage } from 'node:async_hooks';
import { shared } from '../../copies/shared.js';
import { NoCurrentPermitError } from '../permits.errors.js';
import type { RunPermit } from './run-permit.js';

/**
 * A separate storage: it can't clash with a request context, and works without a request, for example in cron methods. Code
 * may ask another copy of this package than the one that runs it.
 */
const storage = shared('current permit', () => new AsyncLocalStorage<Environment>());

/** The permits of the runs that code is part of. */
interface Environment {
  /** The permit of the innermost guarded run. */
  readonly permit: RunPermit;
  /** Permits that wait for this code before they go back: one for each semaphore at most. The innermost run may have another. */
  readonly lasting: readonly RunPermit[];
}

/**
 * Returns the permit of the guarded run that this code belongs to. Works in nested calls and after awaits.
 *
 * @throws NoCurrentPermitError outside a run of `@ClusterSingleton` or `gatekeeper.run()`
 */
export function currentPermit(): RunPermit {
  const environment = storage.getStore();
  if (!environment) throw new NoCurrentPermitError();
  return environment.permit;
}

/** Whether the lasting permit with this token waits for this code, however deep the code is in other guarded runs. */
export function isAwaitedBy({ semaphore, token }: Pick<RunPermit, 'semaphore' | 'token'>): boolean {
  const { lasting = [] } = storage.getStore() ?? {};
  return lasting.some((permit) => permit.semaphore === semaphore && permit.token === token);
}

/** Runs `work`. In it, {@link currentPermit} returns `permit`. */
export function withPermit<T>(permit: RunPermit, work: () => T): T {
  return storage.run({ permit, lasting: storage.getStore()?.lasting ?? [] }, work);
}

/** The same for a permit that outlives each piece of the work under it, and waits for all of them. */
export function withLastingPermit<T>(permit: RunPermit, work: () => T): T {
  const others = (storage.getStore()?.lasting ?? []).filter(({ semaphore }) => semaphore !== permit.semaphore);
  return storage.run({ permit, lasting: [...others, permit] }, work);
}
