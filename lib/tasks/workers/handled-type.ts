import type { DenialReason } from '../../core/decision/index.js';

/** Why a node takes no task of a type: `paused-here` by `pauseType()`, or why it gets no permit of `task:<type>`. */
export type TypeObstacle = 'paused-here' | DenialReason;

/** State of a node's work on one type, as the node knows it now. */
export interface WorkerState {
  /** Attempts at the same time on this node. */
  readonly concurrency: number;
  /** Attempts that run on this node now. */
  readonly running: number;
  /** Why this node takes no task now; absent if it does. */
  readonly obstacle?: TypeObstacle;
}

/** A type that a node handles. */
export interface HandledType extends WorkerState {
  /** The type. */
  readonly type: string;
  /** `tasks`: the tasks of the type. `groups`: the end of its groups. */
  readonly handles: 'tasks' | 'groups';
}
