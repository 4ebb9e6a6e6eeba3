import { GatekeeperError, messageOf } from '../decision/index.js';
import { StoreUnavailableError, UnknownOutcomeError } from './store.errors.js';

/**
 * Takes the steps of a call after its first write. If the store is lost during them, "surely nothing was changed" is wrong.
 *
 * @throws UnknownOutcomeError in the place of StoreUnavailableError and of errors that this package does not know, or any
 *   other error of `steps`
 */
export async function afterWrite<T>(steps: () => Promise<T>): Promise<T> {
  try {
    return await steps();
  } catch (cause) {
    if (cause instanceof GatekeeperError && !(cause instanceof StoreUnavailableError)) throw cause;
    throw new UnknownOutcomeError(`the change was begun, but not completed: ${messageOf(cause)}`, { cause });
  }
}
