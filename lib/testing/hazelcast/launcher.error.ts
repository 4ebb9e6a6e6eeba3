import { GatekeeperError } from '../../core/decision/gatekeeper.error.js';

/** A Hazelcast member could not be fetched, started or controlled. The message says why, and what to do. */
export class HazelcastLauncherError extends GatekeeperError {
  static override readonly className: string = 'HazelcastLauncherError';
  readonly code = 'hazelcast-launcher';
}

/** Java or Maven is missing, or Java is too old. No member can be started on this machine. */
export class MissingToolError extends HazelcastLauncherError {
  static override readonly className = 'MissingToolError';
  constructor(
    /** One line: the missing tool and how to install it. */
    readonly inShort: string,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
