import type { DenialReason } from '../decision/denial.js';
import { show } from '../decision/texts/show.js';
import { GatekeeperError } from '../decision/gatekeeper.error.js';
import { LEADER_PREFIX } from '../decision/reserved-names.js';
import type { LossReason } from '../context/events.js';

const LOSS: Record<LossReason, string> = {
  expired: 'its lease ended before it was refreshed (store out of reach, process frozen or event loop blocked?)',
  revoked: 'it was revoked, or lost with the data of the store',
  'max-run-time': 'the run took longer than its maxRunTime',
  stuck: 'the work under it did not stop in time when its term of leadership ended',
  released: 'it was released',
  closing: 'this node shuts down, and the work under it had not ended',
  unguarded: "the run was let through by onUnavailable: 'run' and never had one",
};

/** The permit is no longer held: the work that it guarded should stop. */
export class PermitLostError extends GatekeeperError {
  static override readonly className = 'PermitLostError';
  readonly code = 'permit-lost';

  constructor(
    /** Name of the semaphore. */
    readonly semaphore: string,
    /** How the permit ended. */
    readonly reason: LossReason,
  ) {
    super(
      `the permit of semaphore ${show(semaphore)} is not held: ${LOSS[reason]}. The work that it guarded is not protected any more`,
    );
  }
}

/** `acquire` got no permit within its timeout; `reason` is that of the last denial. */
export class AcquireTimeoutError extends GatekeeperError {
  static override readonly className = 'AcquireTimeoutError';
  readonly code = 'acquire-timeout';

  constructor(
    /** Name of the semaphore. */
    readonly semaphore: string,
    /** ms; undefined if there was no limit, and the call ended because this node shuts down. */
    readonly timeout: number | undefined,
    /** Reason of the last denial. */
    readonly reason: DenialReason,
    options?: ErrorOptions,
  ) {
    const within = timeout === undefined ? '' : ` within ${timeout} ms`;
    super(`no permit of semaphore ${show(semaphore)}${within}: last denied with ${reason}`, options);
  }
}

/** `currentPermit()` was called, and there is no guarded run around the call. */
export class NoCurrentPermitError extends GatekeeperError {
  static override readonly className = 'NoCurrentPermitError';
  readonly code = 'no-current-permit';

  constructor() {
    super(
      'currentPermit() was called outside a run of @ClusterSingleton or gatekeeper.run(): pass the permit as an argument instead',
    );
  }
}

/** Neither code nor an operator defines a semaphore of that name, and the call gave no duration. */
export class UnknownSemaphoreError extends GatekeeperError {
  static override readonly className = 'UnknownSemaphoreError';
  readonly code = 'unknown-semaphore';

  constructor(
    /** Name of the semaphore. */
    readonly semaphore: string,
    advice = adviceOn(semaphore),
  ) {
    super(`semaphore ${show(semaphore)} has no definition: ${advice}`);
  }
}

/** People can't define a scope of leadership: the first node that has it does. */
function adviceOn(semaphore: string): string {
  return semaphore.startsWith(LEADER_PREFIX)
    ? `no node has the scope ${show(semaphore.slice(LEADER_PREFIX.length))}: correct it, or add it to the option leadership.scopes of a node`
    : "define it, here or in GatekeeperModule's definitions, or give a duration with the call that takes a permit";
}
