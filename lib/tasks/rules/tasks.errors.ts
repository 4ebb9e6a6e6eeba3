import { GatekeeperError } from '../../core/decision/gatekeeper.error.js';
import { InvalidOptionsError, escapeHidden, readDelay, show } from '../../core/decision/index.js';

/** A handler throws it when no further attempt can succeed. The task is not tried again, and kept as a dead letter. */
export class InvalidTaskError extends GatekeeperError {
  static override readonly className = 'InvalidTaskError';
  readonly code = 'invalid-task';
}

/** A handler throws it to be called again later. That counts as no failure. */
export class RetryLaterError extends GatekeeperError {
  static override readonly className = 'RetryLaterError';
  readonly code = 'retry-later';

  constructor(
    /** ms, or text ("5m"), counted from now. */
    readonly after: number | string,
  ) {
    super(`the task is to be tried again in ${show(after)}`);
    const read = readDelay(after);
    if (typeof read === 'string') throw new InvalidOptionsError('RetryLaterError', [`after: ${read}`]);
    this.delay = read;
  }

  /** ms */
  readonly delay: number;
}

/** This node no longer owns the task: its lease ended, another node took it, or it was cancelled. Stop the work. */
export class LeaseExpiredError extends GatekeeperError {
  static override readonly className = 'LeaseExpiredError';
  readonly code = 'lease-expired';

  constructor(
    /** Id of the task. */
    readonly task: string,
    why: string,
    options?: ErrorOptions,
  ) {
    super(`this attempt has lost task ${show(task)}: ${why}. Stop its work; its result may be refused`, options);
  }
}

/** A program has named more types of tasks on this node than it serves: each one has queues in the store. */
export class TooManyTypesError extends GatekeeperError {
  static override readonly className = 'TooManyTypesError';
  readonly code = 'too-many-types';

  constructor(most: number) {
    super(`this program has named ${most} types of tasks within ten minutes, which is the most: use fewer types`);
  }
}

/** A person or program cancelled the task. Stop its work; its result is refused. */
export class TaskCancelledError extends GatekeeperError {
  static override readonly className = 'TaskCancelledError';
  readonly code = 'task-cancelled';

  /** Name of the person or program. */
  readonly by: string;
  /** The reason that was given. */
  readonly reason?: string;

  constructor(
    /** Id of the task. */
    readonly task: string,
    { by, reason }: { readonly by: string; readonly reason?: string | undefined },
  ) {
    super(
      `task ${show(task)} was cancelled by ${escapeHidden(by)}${reason === undefined ? '' : `: ${escapeHidden(reason)}`}`,
    );
    this.by = by;
    if (reason !== undefined) this.reason = reason;
  }
}

/** An attempt takes longer than its handler's `maxDuration`: the reason of the signal. Throw it to be tried again. */
export class TaskTimeoutError extends GatekeeperError {
  static override readonly className = 'TaskTimeoutError';
  readonly code = 'task-timeout';

  constructor(
    /** Id of the task. */
    readonly task: string,
    /** ms */
    readonly maxDuration: number,
  ) {
    super(`task ${show(task)} takes longer than its handler's maxDuration, ${maxDuration} ms: stop the work on it`);
  }
}

/** This node shuts down. A task that its handler gives up now goes to another node at once. */
export class TasksClosingError extends GatekeeperError {
  static override readonly className = 'TasksClosingError';
  readonly code = 'closing';

  constructor() {
    super('this node shuts down: stop the work on the task, or end it soon');
  }
}
