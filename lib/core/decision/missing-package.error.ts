import { GatekeeperError } from './gatekeeper.error.js';

/** An optional package is not installed. */
export class MissingPackageError extends GatekeeperError {
  static override readonly className = 'MissingPackageError';
  readonly code = 'missing-package';
}
