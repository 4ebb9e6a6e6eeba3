import type { Backoff } from '../../core/async/backoff.js';
import type { TaskTarget, Cancellation, GroupCounts, PastAttempt, TaskFault, TaskProgress } from './task-parts.js';
import { messageWithCauses, nameOfError, stackWithCauses } from '../../core/decision/index.js';

/**
 * A task. Its record is the truth; hints in queues, and the order of the records' texts, only help to find it.
 *
 * | state      | it means                                                | `at` is when                   |
 * | ---------- | ------------------------------------------------------- | ------------------------------ |
 * | `waiting`  | any node that handles the type may claim it             | a hint was offered last        |
 * | `delayed`  | it is to wait: `runAt`, or the backoff after a failure  | it becomes `waiting`           |
 * | `blocked`  | other tasks or groups must end before it may run        | they are looked at again       |
 * | `claimed`  | one node works on it                                    | the lease ends                 |
 * | `awaiting` | its handler has ended, and not all of its sub-tasks have | its sub-tasks are looked at    |
 * | `done`     | it has ended, but its group may not know that yet       | it ended                       |
 * | `finished` | it has ended, and nothing is left to do for it          | the record may be removed      |
 *
 * A `blocked`, `delayed` or `waiting` task that is cancelled ends at once; a `claimed` one when its handler ends, or the lease.
 *
 *     delayed ──due──▶ waiting ──claim──▶ claimed ──ended──▶ done ──group knows──▶ finished ──retention──▶ (removed)
 *        ▲                ▲                 │ │ └──ended, in no group──────────────────▲
 *        └─failed, again──┼─────────────────┘ │
 *                         └──lease is over────┘
 *
 *     claimed ──ended, has sub-tasks──▶ awaiting ──they have ended──▶ done
 *     blocked ──the others have ended──▶ waiting, delayed; or done, finished if one of them did not complete
 *
 * All times are cluster time in ms.
 */
export interface Task {
  /** Its id in the whole cluster. */
  readonly id: string;
  /** Name of its type. */
  readonly type: string;
  /** Its state; see the table above. */
  readonly state: TaskState;
  /** A time that depends on the state; see the table above. */
  readonly at: number;
  /** Tasks of a higher priority usually run first. */
  readonly priority: Priority;
  /** New with every write, so no text ever comes back, and a late write of an old text can't be applied. */
  readonly nonce: string;
  /** Nonce of its submission; absent while it is `nonce`. */
  readonly born?: string;
  /** Fencing token of the last claim; 0 before the first. It also grows when the same id is submitted anew. */
  readonly token: number;
  /** When it was submitted. */
  readonly submittedAt: number;
  /** Attempts that ended with an error since it was submitted, or tried again by hand. */
  readonly attempts: number;
  /** Attempts that ended without a word: the node crashed, froze, or lost the store. Counted as `attempts`. */
  readonly crashes: number;
  /** When it is given up, and how long it is remembered. */
  readonly limits: TaskLimits;
  /** Present from the wish of its handler for another attempt later, which is no failure, until that begins. */
  readonly isPutOff?: true;
  /** Instance of the node that claimed it. */
  readonly owner?: string;
  /** While it is claimed: ms for which its lease lasts from its last write. Absent for {@link USUAL_LEASE}. */
  readonly lease?: number;
  /** The nodes that may claim it; absent: all. */
  readonly to?: TaskTarget;
  /** Claims rotate over the keys of the waiting tasks of a type. Absent for a task that takes no part in that. */
  readonly fairKey?: string;
  /** Until its next claim: instance of the program that had it last. Absent if a node had it last, or none. */
  readonly lastProgram?: string;
  /** Any JSON value; absent if none was given. */
  readonly data?: unknown;
  /**
   * `data` as JSON, not kept in the store: what was read or given, and not what a handler makes of the object that it got.
   * Holds only for this object, so that it is never that of another life.
   */
  readonly dataText?: DataText;
  /** The span of its submission, as the `traceparent` of W3C Trace Context; absent without telemetry. */
  readonly trace?: string;
  /** Its place in a group; absent for a task of its own. */
  readonly member?: Member;
  /** Present in the task that runs a group's handler. */
  readonly join?: Incarnation;
  /**
   * Present if it has sub-tasks: the incarnation of the group that counts them, which is the token of the attempt that
   * submitted the first one.
   */
  readonly split?: number;
  /** The family of the former life: a write that comes late may make records of it again. */
  readonly formerFamily?: Family;
  /** Its place among the sub-tasks of another task. A member of a group has the place of its group. */
  readonly sub?: SubTask;
  /** The last report of the latest attempt; absent if it made none. */
  readonly progress?: TaskProgress;
  /** The tasks and groups that must end before it may run; only while it is `blocked`. */
  readonly after?: readonly Awaited[];
  /** Present if it is `blocked`, and runs also if one of the others does not complete. */
  readonly afterFailed?: 'run';
  /** When it may run at the earliest; only while it is `blocked`. */
  readonly runAt?: number;
  /** The serial queue that it is in. While it is `blocked` and has no `after`, it waits for its place there. */
  readonly queue?: string;
  /** Ids of tasks that may wait for its end. Written before they are `blocked`, so its end surely reaches them. */
  readonly dependents?: readonly string[];
  /** The error of the last attempt, until an attempt succeeds. */
  readonly error?: TaskFault;
  /** The last attempts of this life that failed or crashed, oldest first: at most {@link MOST_PAST}. Absent for none. */
  readonly past?: readonly PastAttempt[];
  /** Whether the rest of its group ends at once if it ends without success. Only in members of groups. */
  readonly failGroupFast?: true;
  /** The wish to cancel it, noted while a node works on it. From then on it can only end as cancelled. */
  readonly cancel?: Cancellation;
  /** A submission that waits for its end, and begins it anew. */
  readonly next?: NextLife;
  /** Nonce of the unique submission that replaced it, if tasks wait for its end: these know it by `born`. */
  readonly replacedBy?: string;
  /** Until its next claim: the end of the former life. Its writer finds it here if the answer was lost. */
  readonly formerEnd?: Pick<Ending, 'by' | 'outcome'> & Pick<Task, 'token'>;
  /** The former life, if it did not complete. A task that was written late may still wait for its end. */
  readonly formerFailure?: { readonly life: string; readonly outcome: Outcome };
  /** How it ended; absent before. */
  readonly ending?: Ending;
}

/** A value, and its text as JSON. */
interface DataText {
  readonly of: unknown;
  readonly text: string;
}

/** The data and options with which a task begins anew when it has ended. */
export interface NextLife {
  /** Nonce of its submission. */
  readonly by: string;
  readonly priority: Priority;
  readonly limits: TaskLimits;
  /** Cluster time in ms; absent: at once. */
  readonly runAt?: number;
  readonly data?: unknown;
  readonly to?: TaskTarget;
  readonly fairKey?: string;
  readonly trace?: string;
}

/** State of a task; {@link Task} has a table of them. */
export type TaskState = 'waiting' | 'delayed' | 'blocked' | 'claimed' | 'awaiting' | 'done' | 'finished';

export const PRIORITIES = ['high', 'normal', 'low'] as const;
/**
 * Tasks of a higher priority usually run first.
 *
 * @useDeclaredType
 */
export type Priority = (typeof PRIORITIES)[number];

/** When a task is given up, and how long it is remembered. Times in ms. */
export interface TaskLimits {
  /** Attempts that may fail. */
  readonly maxAttempts: number;
  /** Attempts in which a node may crash. */
  readonly maxCrashes: number;
  /** Pauses between failed attempts. */
  readonly backoff: Pick<Backoff, 'first' | 'longest'>;
  /** How long a completed task is remembered. */
  readonly retention: number;
  /** How long a task is remembered that did not complete. */
  readonly deadLetterRetention: number;
}

/** ms of a handler's lease if its options do not say otherwise. */
export const USUAL_LEASE = 30_000;

export const USUAL_LIMITS: TaskLimits = {
  maxAttempts: 5,
  maxCrashes: 3,
  backoff: { first: 1000, longest: 600_000 },
  retention: 3_600_000,
  deadLetterRetention: 604_800_000,
};

/** One life of a group: a group that is submitted again after its end is another one. */
export interface Incarnation {
  readonly group: string;
  /** Grows with each incarnation of the group. */
  readonly incarnation: number;
  /** Whether the task runs again by hand after the group's end. Then the group does not count its end. */
  readonly isOver?: true;
}

/** The place of a task in its group. */
export interface Member extends Incarnation {
  /** From 1; 0 for the task that stands for a group without members. */
  readonly number: number;
}

/** The place of a task, or of a group, among the sub-tasks of another task. */
export interface SubTask {
  /** Id of the task whose handler submitted it. */
  readonly parent: string;
  /** That of the parent's `split`. */
  readonly incarnation: number;
  /** From 1. */
  readonly number: number;
}

/** One life of a task or group for whose end a task waits. */
export interface Awaited {
  readonly id: string;
  /** Nonce of the task's submission, or incarnation of the group. Another one under the same id means that this one has ended. */
  readonly life: string;
}

/**
 * How a task ended: `completed`; `failed` after `maxAttempts`; `crashed` after `maxCrashes`; `invalid`, because its
 * handler said that no attempt can succeed; `cancelled` by a person or program.
 */
export type Outcome = 'completed' | 'failed' | 'crashed' | 'invalid' | 'cancelled';

/** The end of a task. */
export interface Ending {
  /** How it ended. */
  readonly outcome: Outcome;
  /** When it ended. */
  readonly at: number;
  /** Id of the write that ended it. Its writer finds it here if the answer was lost. */
  readonly by: string;
  /** JSON value that the handler returned; absent for none. */
  readonly result?: unknown;
  /** The sub-tasks, when all have ended; absent if there were none. A group of sub-tasks counts as one. */
  readonly subTasks?: GroupCounts;
}

/** The sub-tasks of one life of a task. */
export interface Family {
  /** That of the task's `split`. */
  readonly incarnation: number;
  /** Number of sub-tasks. */
  readonly total: number;
}

/** The family of a task in this life, if it has one. It is complete when the task has ended. */
export function familyIn({ split, ending }: Pick<Task, 'split' | 'ending'>): Family | undefined {
  return split === undefined ? undefined : { incarnation: split, total: ending?.subTasks?.total ?? 0 };
}

/** Past attempts that a task keeps. */
export const MOST_PAST = 5;

const LONGEST_NAME = 200;
const LONGEST_MESSAGE = 2000;
const LONGEST_STACK = 4000;

/** The error in one line. */
export function faultText({ name, message }: Pick<TaskFault, 'name' | 'message'>): string {
  return message.startsWith(name) ? message : `${name}: ${message}`;
}

/**
 * An error as far as a task keeps it.
 *
 * @param error anything that was thrown
 * @param at cluster time in ms
 */
export function faultOf(error: unknown, at: number): TaskFault {
  const stack = stackWithCauses(error);
  return {
    name: (nameOfError(error) ?? 'Error').slice(0, LONGEST_NAME),
    message: messageWithCauses(error).slice(0, LONGEST_MESSAGE),
    at,
    ...(stack && { stack: stack.slice(0, LONGEST_STACK) }),
  };
}
