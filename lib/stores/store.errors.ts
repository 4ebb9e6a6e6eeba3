import { GatekeeperError } from '../decision/gatekeeper.error.js';

/** The store could not be asked; surely nothing was changed. */
export class StoreUnavailableError extends GatekeeperError {
  readonly code: string = 'unavailable';
}

/** Fewer members are there than the quorum asks for; surely nothing was changed. */
export class NoQuorumError extends StoreUnavailableError {
  override readonly code = 'no-quorum';
}

/** A write was sent and its fate is unknown: it may have been applied, or may still be. */
export class UnknownOutcomeError extends GatekeeperError {
  readonly code = 'unknown-outcome';
}
