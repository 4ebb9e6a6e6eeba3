import { groupType } from '../rules/task-id.js';
import { TASK_PREFIX, escapeHidden, show } from '../../core/decision/index.js';
import { skipSentence } from '../../core/permits/runs/run-skipped.error.js';
import type { NodeIdentity } from '../../core/context/node-identity.js';
import type { TaskTarget, TaskProgress } from '../rules/task-parts.js';
import { isTarget, targetText } from '../rules/target.js';
import type { GroupRoot } from '../rules/group.js';
import type { Task } from '../rules/task.js';
import { instanceIn } from '../rules/claim.js';
import { isInGroup } from '../rules/transitions.js';
import type { TaskView, WorkerState } from '../rules/views.js';
import { UNKNOWN } from '../records/cancel.js';
import { viewOf } from './task-view.js';

/** Why a task does not run, or where it runs. Times are cluster time in ms since 1970. */
export type TaskExplanation = {
  /** Id of the task. */
  readonly id: string;
  /** The reason in a sentence, for people. */
  readonly sentence: string;
} & (
  | {
      /** No task of this id is in the store. */
      readonly reason: 'unknown';
    }
  | {
      /** It is a tick of a schedule that was skipped, because the former run had not ended. */
      readonly reason: 'skipped';
      /** Id of the task of that run. */
      readonly former: string;
    }
  | {
      /**
       * `run-at`: it waits for the time that its submission gave. `backoff`: for its next attempt after a failure.
       * `retry-later`: for the time that its handler gave.
       */
      readonly reason: 'run-at' | 'backoff' | 'retry-later';
      /** When it may run next. A sweep looks every second. */
      readonly until: number;
      /** The task as it stands in the store. */
      readonly task: TaskView;
    }
  | {
      /** It waits for the end of other tasks or groups. */
      readonly reason: 'after';
      /** Their ids. */
      readonly after: readonly string[];
      /** The task as it stands in the store. */
      readonly task: TaskView;
    }
  | {
      /** It waits for a node that handles its type and has room. */
      readonly reason: 'waiting';
      /** When it was offered to the nodes last. */
      readonly offeredAt: number;
      /** The work of this node on its type; absent if it has no handler. No node knows the types of the others. */
      readonly here?: WorkerState;
      /** Names of the living nodes that may run it, if it is addressed, and this node knows the living ones. */
      readonly matching?: readonly string[];
      /** The task as it stands in the store. */
      readonly task: TaskView;
    }
  | {
      /** `running`: a node works on it. `cancelling`: the same, and it was cancelled. */
      readonly reason: 'running' | 'cancelling';
      /** Instance of the node, or `http:` and the name of the program. */
      readonly instance: string;
      /** True if that is this node. */
      readonly isHere: boolean;
      /** When its lease ends. After a crash another node gets it then. */
      readonly until: number;
      /** The task as it stands in the store. */
      readonly task: TaskView;
    }
  | {
      /** Its handler has ended, and not all of its sub-tasks have. */
      readonly reason: 'sub-tasks';
      /** The task as it stands in the store. */
      readonly task: TaskView;
    }
  | {
      /** It has ended. */
      readonly reason: 'ended';
      /**
       * Why it is remembered although its time may be over: its group waits for its `total`, for other `members`, or for its
       * `handler`. Absent if it waits for none of them.
       */
      readonly groupWaitsFor?: 'total' | 'members' | 'handler';
      /** The task as it stands in the store. */
      readonly task: TaskView;
    }
);

/** Names in a sentence. */
const MOST_NAMES = 5;

/** State of this node that an explanation needs. */
interface ExplainingNode {
  readonly instance: string;
  /** Its work on a type. @param type of the record, so that group handlers have a type of their own */
  readonly worker: (type: string) => WorkerState | undefined;
  /** The living nodes; absent if they are not known. */
  readonly living?: readonly NodeIdentity[] | undefined;
  /** The groups for which the task waits, and of which no member is in the store. */
  readonly empty?: readonly string[] | undefined;
}

/**
 * @param task as it stands in the store
 * @param root of its group, if it is in one that is remembered
 */
export function explain(
  id: string,
  task: Task | undefined,
  root: GroupRoot | undefined,
  node: ExplainingNode,
): TaskExplanation {
  if (!task) return { id, reason: 'unknown', sentence: UNKNOWN };
  const explanation = explanationOf(task, root, node);
  // It contains messages of errors and reasons that other people wrote.
  return { ...explanation, id, task: viewOf(task), sentence: escapeHidden(explanation.sentence) };
}

/** @param former id of the task because of which the tick was skipped */
export function skippedTick(id: string, former: string): TaskExplanation {
  return { id, reason: 'skipped', former, sentence: `this tick was skipped, because ${former} had not ended` };
}

/** Each member of the union without the fields that all have. */
type Without<Union> = Union extends unknown ? Omit<Union, 'id' | 'task'> : never;
type Known = Without<Exclude<TaskExplanation, { reason: 'unknown' | 'skipped' }>>;

function explanationOf(task: Task, root: GroupRoot | undefined, node: ExplainingNode): Known {
  switch (task.state) {
    case 'delayed':
      return delayed(task);
    case 'blocked':
      return blocked(task, node);
    case 'waiting':
      return waiting(task, node);
    case 'claimed':
      return running(task, node);
    case 'awaiting':
      return { reason: 'sub-tasks', sentence: 'its handler has ended, and it waits for its sub-tasks' };
    default:
      return ended(task, root);
  }
}

function delayed(task: Task): Known {
  const { at: until, error, isPutOff } = task;
  if (isPutOff) return { reason: 'retry-later', until, sentence: `its handler wants it again at ${iso(until)}` };
  if (error) {
    const sentence = `${attemptOf(task)} waits until ${iso(until)}; the last one failed: ${show(error.message)}`;
    return { reason: 'backoff', until, sentence };
  }
  return { reason: 'run-at', until, sentence: `it was submitted to run at ${iso(until)}` };
}

function blocked({ after = [], afterFailed, queue, cancel }: Task, { empty = [] }: ExplainingNode): Known {
  const ids = after.map(({ id }) => id);
  const [first, ...others] = ids;
  if (queue !== undefined) {
    const place = first === undefined ? '' : `, after ${show(first)}`;
    const end = cancel ? `; ${cancel.by} cancelled it, so it ends then` : '';
    return { reason: 'after', after: ids, sentence: `it waits for its turn in the queue ${show(queue)}${place}${end}` };
  }
  const more = others.length > 0 ? ` and ${others.length} others` : '';
  const otherwise = afterFailed ? 'it runs also if one fails' : 'if one does not complete, it is cancelled';
  const missing = empty.length === 0 ? '' : `; no member of ${listed(empty)} is in the store: submit it again`;
  const sentence = `it waits for the end of ${show(first)}${more}; ${otherwise}${missing}`;
  return { reason: 'after', after: ids, sentence };
}

function waiting({ type, at, join, to }: Task, { worker, living }: ExplainingNode): Known {
  const here = worker(type);
  if (to) return addressed(to, at, living, here);
  const of = join ? `groups of type ${show(groupType(type))}` : `type ${show(type)}`;
  const sentence = `it waits for a node with room, and was offered last at ${iso(at)}; ${workHere(of, type, here)}`;
  return { reason: 'waiting', offeredAt: at, ...(here && { here }), sentence };
}

function addressed(
  to: TaskTarget,
  offeredAt: number,
  living: readonly NodeIdentity[] | undefined,
  here: WorkerState | undefined,
): Known {
  const matching = living?.filter((node) => isTarget(to, node)).map(({ acquirer }) => acquirer);
  const nodes = !matching ? '' : matching.length === 0 ? ', and no living node matches' : `: ${listed(matching)}`;
  const sentence = `it waits for a node that matches its address, ${targetText(to)}${nodes}`;
  return { reason: 'waiting', offeredAt, ...(here && { here }), ...(matching && { matching }), sentence };
}

function listed(names: readonly string[]): string {
  const shown = names.slice(0, MOST_NAMES).map((name) => show(name));
  const more = names.length - shown.length;
  return `${shown.join(', ')}${more > 0 ? ` and ${more} others` : ''}`;
}

function workHere(of: string, type: string, here: WorkerState | undefined): string {
  if (!here) return `this node has no handler for ${of}: another node must do it`;
  const { obstacle, running, concurrency } = here;
  if (obstacle === 'paused-here')
    return `${of} is switched off on this node, until it is switched on again or restarts`;
  if (obstacle) return `this node takes none of ${of}: ${skipSentence(obstacle, TASK_PREFIX + groupType(type))}`;
  if (running >= concurrency) return `this node works on ${running} of ${of}, and has no more room`;
  return `this node handles ${of}, and has room`;
}

function running(task: Task, { instance: own }: ExplainingNode): Known {
  const { at: until, owner, cancel, progress } = task;
  const instance = instanceIn(owner!);
  const isHere = instance === own;
  const where = isHere
    ? 'this node'
    : `${instance.includes(':') ? 'the program' : 'the node of instance'} ${show(instance)}`;
  const work = `${where} works on ${attemptOf(task)}, with a lease until ${iso(until)}`;
  const wish = cancel && `; ${cancel.by} cancelled it at ${iso(cancel.at)}, so it ends with its handler or its lease`;
  return {
    reason: cancel ? 'cancelling' : 'running',
    instance,
    isHere,
    until,
    sentence: `${work}${progress ? `; ${sayProgress(progress)}` : ''}${wish ?? ''}`,
  };
}

function sayProgress({ done, total, note, at }: TaskProgress): string {
  return `it had done ${done} of ${total} at ${iso(at)}${note === undefined ? '' : ` (${note})`}`;
}

function ended(task: Task, root: GroupRoot | undefined): Known {
  const { ending, error, cancel, state, at } = task;
  const waitsFor = isInGroup(task) ? waitOf(root) : undefined;
  const author = cancel && ` by ${cancel.by}${cancel.reason === undefined ? '' : ` (${cancel.reason})`}`;
  const how = `${WORDS[ending!.outcome]}${author ?? ''} at ${iso(ending!.at)}`;
  const why = error ? `; the last error was ${show(error.message)}` : '';
  const kept = waitsFor ? `; its group waits for ${WAITS[waitsFor]}` : keptUntil(state, at);
  return { reason: 'ended', ...(waitsFor && { groupWaitsFor: waitsFor }), sentence: `${how}${why}${kept}` };
}

function keptUntil(state: Task['state'], at: number): string {
  return state === 'finished' ? `; it is remembered until ${iso(at)}` : '';
}

/** An open group always waits for something: otherwise it would be joining. */
function waitOf(root: GroupRoot | undefined): 'total' | 'members' | 'handler' | undefined {
  if (!root || root.state === 'closed') return undefined;
  if (root.state === 'joining') return 'handler';
  return root.total === undefined ? 'total' : 'members';
}

const WORDS = {
  completed: 'it completed',
  failed: 'it was given up after its last attempt',
  crashed: 'it was given up after too many crashes',
  invalid: 'its handler found it invalid',
  cancelled: 'it was cancelled',
} as const;

const WAITS = {
  total: 'a submission that gives its total',
  members: 'other members',
  handler: 'the end of its handler',
} as const;

function attemptOf({ attempts, crashes, limits }: Task): string {
  const crashed = crashes > 0 ? `, after ${crashes} of ${limits.maxCrashes} crashes` : '';
  return `attempt ${attempts + 1} of ${limits.maxAttempts}${crashed}`;
}

function iso(time: number): string {
  return new Date(time).toISOString();
}
