import type { SplitBrainProtectionError } from 'hazelcast-client';
import loadHazelcastClient from '../../../load-hazelcast-client.cjs';
import { GatekeeperError } from '../../core/decision/gatekeeper.error.js';
import { NoQuorumError, StoreUnavailableError, UnknownOutcomeError } from '../../core/store/store.errors.js';

/**
 * Maps a failed read, listing or clock reading to an error. A read changes nothing, so the store was only unavailable.
 */
export function readFailure(cause: unknown): GatekeeperError {
  if (cause instanceof GatekeeperError) return cause;
  if (isRefusedForQuorum(cause)) return refused(cause);
  return new StoreUnavailableError(`Hazelcast did not answer (${said(cause)}): try again`, { cause });
}

/**
 * Maps a failed compare-and-set to an error. Only a refusal by the members proves that nothing was written. After all
 * other errors the write may have been applied:
 * - TargetDisconnectedError, IndeterminateOperationStateError: the write was sent, and the answer or a backup is
 *   missing;
 * - ClientOfflineError, OperationTimeoutError, ClientNotActiveError: the client retries by itself after "member left"
 *   and I/O errors, so the first attempt of the call may have been applied. (If there is no connection at all, the
 *   store refuses the call before it asks the client.)
 */
export function writeFailure(cause: unknown): GatekeeperError {
  if (cause instanceof GatekeeperError) return cause;
  if (isRefusedForQuorum(cause)) return refused(cause);
  return new UnknownOutcomeError(
    `Hazelcast may or may not have written (${said(cause)}): read before you write again`,
    {
      cause,
    },
  );
}

/** Whether the members refused a call because their split-brain protection found too few members. */
export function isRefusedForQuorum(error: unknown): error is SplitBrainProtectionError {
  return error instanceof loadHazelcastClient().SplitBrainProtectionError;
}

function refused(cause: SplitBrainProtectionError): NoQuorumError {
  return new NoQuorumError(
    `The members refuse, because their split-brain protection finds too few members (${said(cause)}): start more members`,
    { cause },
  );
}

function said(cause: unknown): string {
  return cause instanceof Error ? `${cause.constructor.name}: ${cause.message}` : String(cause);
}
