import { GatekeeperError } from '../../decision/gatekeeper.error.js';
import { show } from '../../decision/texts/show.js';

/** A job can't be run now. Nothing of it was done, and no node was asked. */
export class CannotRunError extends GatekeeperError {
  static override readonly className = 'CannotRunError';
  readonly code = 'cannot-run';

  constructor(
    /** Name of the semaphore. */
    readonly semaphore: string,
    why: string,
  ) {
    super(`no job of semaphore ${show(semaphore)} can be run now: ${why}`);
  }
}

/** A run of the job was asked for a moment ago, and no node has taken it yet. */
export class RunRequestedError extends GatekeeperError {
  static override readonly className = 'RunRequestedError';
  readonly code = 'run-requested';

  constructor(
    /** Name of the semaphore. */
    readonly semaphore: string,
    /** Name of the job. */
    readonly job: string,
    /** The person or program that asked. */
    readonly by: string,
  ) {
    super(
      `${show(by)} has asked for a run of ${show(job)}, and no node has taken it yet: wait for it, at most a minute`,
    );
  }
}

/** There is no such request, or it is too old to be remembered: the history has its run. */
export class UnknownRunError extends GatekeeperError {
  static override readonly className = 'UnknownRunError';
  readonly code = 'unknown-run';

  constructor(
    /** Name of the semaphore. */
    readonly semaphore: string,
    /** Id of the request. */
    readonly id: string,
  ) {
    super(`semaphore ${show(semaphore)} has no request ${show(id)} for a run any more: look into the history`);
  }
}
