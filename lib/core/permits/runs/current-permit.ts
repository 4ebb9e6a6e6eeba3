import { AsyncLocalStorage } from 'node:async_hooks';
import { shared } from '../../copies/shared.js';
import { NoCurrentPermitError } from '../permits.errors.js';
import type { RunPermit } from './run-permit.js';

/**
 * A separate storage: it can't clash with a request context, and works without a request, for example in cron methods. Code
 * may ask another copy of this package than the one that runs it.
 */
const storage = shared('current permit', () => new AsyncLocalStorage<RunContext>());

/** The permits of the runs that code is part of. */
interface RunContext {
  /** The permit of the innermost guarded run. */
  readonly permit: RunPermit;
  /** Permits that wait for this code before they go back: one for each semaphore at most. The innermost run may have another. */
  readonly lasting: readonly RunPermit[];
  /** The guarded runs, outermost first. */
  readonly runs: readonly CurrentRun[];
}

/** A run that code is part of. */
interface CurrentRun {
  /** The runs of a semaphore in this process. */
  readonly of: object;
  /** Its job and its holder. */
  readonly key: string;
  /** Timers of its work may outlive it. */
  isOver: boolean;
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

/** Whether this code is part of a run of the same job that has not ended, however deep it is in other guarded runs. */
export function isInRun({ of, key }: Pick<CurrentRun, 'of' | 'key'>): boolean {
  const { runs = [] } = storage.getStore() ?? {};
  return runs.some((run) => run.of === of && run.key === key && !run.isOver);
}

/** Runs `work` as the work of a run. In it, {@link currentPermit} returns `permit`. */
export async function withPermit<T>(
  permit: RunPermit,
  { of, key }: Pick<CurrentRun, 'of' | 'key'>,
  work: () => T | Promise<T>,
): Promise<T> {
  const { lasting = [], runs = [] } = storage.getStore() ?? {};
  const own: CurrentRun = { of, key, isOver: false };
  try {
    return await storage.run({ permit, lasting, runs: [...runs, own] }, work);
  } finally {
    own.isOver = true;
  }
}

/** The same for a permit that outlives each piece of the work under it, and waits for all of them. */
export function withLastingPermit<T>(permit: RunPermit, work: () => T): T {
  const { lasting = [], runs = [] } = storage.getStore() ?? {};
  const others = lasting.filter(({ semaphore }) => semaphore !== permit.semaphore);
  return storage.run({ permit, lasting: [...others, permit], runs }, work);
}
