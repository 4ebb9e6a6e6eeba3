import { GatekeeperError } from './gatekeeper.error.js';

/** An optional package is not installed. */
export class MissingPackageError extends GatekeeperError {
  readonly code = 'missing-package';
}
