import { GatekeeperError } from '../core/decision/gatekeeper.error.js';
import { messageOf } from '../core/decision/texts/error-texts.js';

/** The first thing that a node needs before it can decide, and does not have yet. `closing`: the node shuts down. */
export type NotReadyReason = 'store' | 'clock' | 'definitions' | 'closing';

const LACK: Record<NotReadyReason, string> = {
  store: "the store is not connected: check that its members run and that the store's options fit them",
  clock: "the members' clocks could not be read: check that all members answer",
  definitions:
    'definitions of this code are not in the store yet: this node creates them `definitionsDelay` after the start, and only if it can read the archive',
  closing: 'this node shuts down',
};

/** The timeout of `ready()` passed, and the node still can't decide. */
export class NotReadyError extends GatekeeperError {
  static override readonly className = 'NotReadyError';
  readonly code = 'not-ready';

  constructor(
    /** The first thing that the node does not have yet. */
    readonly lack: NotReadyReason,
    /** ms */
    readonly timeout: number,
    options?: ErrorOptions,
  ) {
    const { cause } = options ?? {};
    const why = cause === undefined ? '' : ` (${messageOf(cause)})`;
    super(`not ready within ${timeout} ms: ${LACK[lack]}${why}`, options);
  }
}
