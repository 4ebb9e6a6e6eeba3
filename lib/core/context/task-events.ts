/** One attempt at a task on this node. */
export interface TaskAttempt {
  /** Id of the task. */
  readonly task: string;
  /** Fencing token of the attempt. */
  readonly token: number;
}

/** An event about tasks, or about a schedule of the cluster. */
export type TaskEvent =
  /** This node works on a task, an attempt of it. */
  | ({ readonly type: 'task-started' } & TaskAttempt)
  /**
   * An attempt has ended. `outcome` is absent if the task will be tried again. An attempt that was given back, put off or
   * cancelled is no failure, even if its handler threw.
   */
  | ({
      readonly type: 'task-ended';
      /** Duration in ms, by the node's monotonic clock. */
      readonly took: number;
      /** How the task ended; absent if it will be tried again. */
      readonly outcome?: string;
      /** The error of the handler; may be any value. */
      readonly error?: unknown;
      /** Whether the attempt counts as failed. */
      readonly isFailure: boolean;
    } & TaskAttempt)
  /**
   * The lease of an attempt ended before its node noted an end: it crashed, or could not reach the store. Told by the node
   * that sweeps. `outcome` is absent if the task will be tried again.
   */
  | ({
      readonly type: 'task-crashed';
      /** Attempts at the task in which a node crashed. */
      readonly crashes: number;
      /** How the task ended; absent if it will be tried again. */
      readonly outcome?: string;
    } & TaskAttempt)
  /** This node worked on a task that is not its own any more: its result was refused, or it never had one. */
  | ({
      readonly type: 'task-lost';
      /** Why the result was refused. */
      readonly error: Error;
    } & TaskAttempt)
  /** Nodes have different expressions for one schedule. Told once per expression. */
  | {
      readonly type: 'schedule-differs';
      /** Name of the schedule. */
      readonly schedule: string;
      /** The expression of this node. */
      readonly own: string;
      /** The expression of another node. */
      readonly other: string;
      /** A sentence for people that describes it. */
      readonly sentence: string;
    }
  /** Ticks of a schedule were not submitted in time. `from` and `to` are the first one and the last one that came: ms since 1970. */
  | {
      readonly type: 'ticks-missed';
      /** Name of the schedule. */
      readonly schedule: string;
      /** Planned time of the first tick that was missed: ms since 1970. */
      readonly from: number;
      /** Planned time of the last tick that was missed: ms since 1970. */
      readonly to: number;
      /** A sentence for people that describes it. */
      readonly sentence: string;
    }
  /**
   * The store remembers a planned time of a schedule that is still to come, because its clock was ahead and was set back. No
   * node submits a tick before that time. Told once per time.
   */
  | {
      readonly type: 'schedule-silent';
      /** Name of the schedule. */
      readonly schedule: string;
      /** Ticks count after that time: ms since 1970. */
      readonly until: number;
      /** A sentence for people that describes it. */
      readonly sentence: string;
    }
  /** A tick of a schedule does not run, because the former run has not ended. `at` is its planned time: ms since 1970. */
  | {
      readonly type: 'tick-skipped';
      /** Name of the schedule. */
      readonly schedule: string;
      /** Planned time of the tick: ms since 1970. */
      readonly at: number;
      /** A sentence for people that describes it. */
      readonly sentence: string;
    }
  /** Ended tasks left before their retention was over, because all of them had too many bytes. At most once a minute. */
  | {
      readonly type: 'tasks-removed-early';
      /** Tasks that were removed since the last such event. */
      readonly count: number;
      /** Their bytes. */
      readonly bytes: number;
      /** The option `tasks.maxRetainedBytes`. */
      readonly limit: number;
    }
  /** Tasks of a type wait, and no node has taken any for a minute. Told once, by the node that sweeps the tasks. */
  | {
      readonly type: 'tasks-untaken';
      /** Name of the type. */
      readonly task: string;
      /** Priority of the tasks that wait. */
      readonly priority: string;
      /** A sentence for people that describes it. */
      readonly sentence: string;
    };
