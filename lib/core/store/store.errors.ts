import { GatekeeperError } from '../decision/gatekeeper.error.js';
import { messageOf } from '../decision/texts/error-texts.js';

/** The store could not be reached, or refused the call. Surely nothing was changed. */
export class StoreUnavailableError extends GatekeeperError {
  static override readonly className: string = 'StoreUnavailableError';
  readonly code: string = 'unavailable';
}

/** The store sees fewer members than the quorum needs. Surely nothing was changed. */
export class NoQuorumError extends StoreUnavailableError {
  static override readonly className = 'NoQuorumError';
  override readonly code = 'no-quorum';
}

/**
 * A write was sent, its answer was lost, and no look within `callTimeout` told what became of it: it may have been applied, or
 * may still be applied. A permit that it made is taken back in the background.
 */
export class UnknownOutcomeError extends GatekeeperError {
  static override readonly className = 'UnknownOutcomeError';
  readonly code = 'unknown-outcome';
}

/** Whether a call of the store failed: it surely changed nothing, or its outcome is unknown. */
export function isStoreError(error: unknown): error is StoreUnavailableError | UnknownOutcomeError {
  return error instanceof StoreUnavailableError || error instanceof UnknownOutcomeError;
}

/**
 * The error of a call that may have written. Only StoreUnavailableError proves that nothing was written. After any other
 * error the write may have been applied: also after one that a driver does not map, or that this copy of the package does
 * not know.
 */
export function writeError(error: unknown): StoreUnavailableError | UnknownOutcomeError {
  if (isStoreError(error)) return error;
  const what = `the store may or may not have written (${messageOf(error)}): read before you write again`;
  return new UnknownOutcomeError(what, { cause: error });
}

/**
 * The error of a call that surely changed nothing, and got no answer in time.
 *
 * @param what the call in words: "list the records"
 * @param timeout ms
 */
export function unanswered(what: string, timeout: number, cause: unknown): StoreUnavailableError {
  return new StoreUnavailableError(`the store did not ${what} within ${timeout} ms`, { cause });
}

/** The error of a write that got no clear answer in time. @param timeout ms */
export function unclear(timeout: number, cause?: unknown): UnknownOutcomeError {
  const what = `the store gave no clear answer within ${timeout} ms, and a write may have been applied`;
  return new UnknownOutcomeError(what, cause === undefined ? undefined : { cause });
}
