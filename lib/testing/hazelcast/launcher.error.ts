import { GatekeeperError } from '../../semaphores/gatekeeper.error.js';

/** A Hazelcast member could not be fetched, started or controlled; the message says why and what to do instead. */
export class HazelcastLauncherError extends GatekeeperError {
  readonly code = 'hazelcast-launcher';
}
