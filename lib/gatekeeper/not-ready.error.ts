import { GatekeeperError } from '../decision/gatekeeper.error.js';
import { messageOf } from '../decision/texts/message-of.js';

/** The first thing that a node still lacks before it can decide; `closing`: it shuts down. */
export type Lack = 'store' | 'clock' | 'definitions' | 'closing';

const LACK: Record<Lack, string> = {
  store: "the store is not connected: see that its members run and that the store's options fit them",
  clock: "the members' clocks could not be read: see that all members answer",
  definitions:
    'definitions of this code are not in the store yet: they are put there `definitionsDelay` after the start, and only when the archive can be read',
  closing: 'this node shuts down',
};

/** The timeout of `ready()` passed, and the node still can't decide. */
export class NotReadyError extends GatekeeperError {
  readonly code = 'not-ready';

  constructor(
    /** The first thing that the node still lacks. */
    readonly lack: Lack,
    /** ms */
    readonly timeout: number,
    options?: ErrorOptions,
  ) {
    const { cause } = options ?? {};
    const why = cause === undefined ? '' : ` (${messageOf(cause)})`;
    super(`not ready within ${timeout} ms: ${LACK[lack]}${why}`, options);
  }
}
