import type { SplitBrainProtectionError } from 'hazelcast-client';
import loadHazelcastClient from '../../../load-hazelcast-client.cjs';
import { GatekeeperError } from '../../decision/gatekeeper.error.js';
import { NoQuorumError, StoreUnavailableError, UnknownOutcomeError } from '../store.errors.js';

/** Maps a failed read, list or clock reading to an error: a read changes nothing, so the store was only unavailable. */
export function readFailure(cause: unknown): GatekeeperError {
  if (cause instanceof GatekeeperError) return cause;
  if (isRefusedForQuorum(cause)) return refused(cause);
  return new StoreUnavailableError(`Hazelcast did not answer (${said(cause)}): try again`, { cause });
}

/**
 * Maps a failed compare-and-set to an error. Only the members' own refusal is sure. All else may follow a write:
 * - TargetDisconnectedError, IndeterminateOperationStateError: sent, and the answer or a backup was missed;
 * - ClientOfflineError, OperationTimeoutError, ClientNotActiveError: the client tries again on its own after "member
 *   left" and I/O errors, so these may end a call whose first attempt was applied. (Calls that fail before
 *   anything is sent are refused by the store's own check, before it asks the client.)
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

/** Whether the members refused a call because their split-brain protection finds too few of them. */
export function isRefusedForQuorum(error: unknown): error is SplitBrainProtectionError {
  return error instanceof loadHazelcastClient().SplitBrainProtectionError;
}

function refused(cause: SplitBrainProtectionError): NoQuorumError {
  return new NoQuorumError(
    `The members refuse, because their split-brain protection finds too few of them (${said(cause)}): bring members back`,
    { cause },
  );
}

function said(cause: unknown): string {
  return cause instanceof Error ? `${cause.constructor.name}: ${cause.message}` : String(cause);
}
