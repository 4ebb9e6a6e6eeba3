import { GatekeeperError } from '../../decision/gatekeeper.error.js';

/** A Hazelcast member could not be fetched, started or controlled; the message says why, and what to do. */
export class HazelcastLauncherError extends GatekeeperError {
  readonly code = 'hazelcast-launcher';
}

/** Java or Maven is missing, or too old: no member can be started on this machine. */
export class MissingToolError extends HazelcastLauncherError {
  constructor(
    /** In one line: the missing tool and how to get it. */
    readonly inShort: string,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
