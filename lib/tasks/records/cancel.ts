import type { Context } from '../../core/context/context.js';
import type { TextCells, TextStep } from '../../core/cell/text-cells.js';
import type { Groups } from './groups/groups.js';
import type { Hints } from './hints.js';
import type { Parents } from './parents.js';
import type { Cancelled } from '../rules/answers.js';
import { isTaskId } from '../rules/task-id.js';
import type { Task } from '../rules/task.js';
import { decodeTask, encodeTask } from '../rules/task.codec.js';
import * as transitions from '../rules/transitions.js';
import type { Stamp } from '../rules/transitions.js';
import type { NodeIdentity } from '../../core/context/node-identity.js';
import { InvalidOptionsError, faultsOf, nameSchema, onlyFields, show } from '../../core/decision/index.js';
import { authorOf, reasonSchema } from '../../core/context/change-options.js';
import type { Cancellation } from '../rules/task-parts.js';

/** Author and reason of a cancel. */
export interface CancelOptions {
  /** Name of the person or program. Default: the node's own acquirer name. */
  readonly by?: string;
  /** The reason, at most 1,000 characters on one line; the handler gets it, and every view of the task shows it. */
  readonly reason?: string;
}

const schema = onlyFields({ by: nameSchema.optional(), reason: reasonSchema.optional() });

/** @throws InvalidOptionsError */
export function parseCancelOptions(
  task: string,
  options: CancelOptions | undefined,
  node: Pick<NodeIdentity, 'acquirer'>,
): { readonly by: string; readonly reason?: string } {
  const { data, error } = schema.safeParse(options ?? {});
  if (error) throw new InvalidOptionsError(`a cancel of task ${show(task)}`, faultsOf(error));
  return authorOf(data, node);
}

/** The answer, with the task as it stands now. */
export interface CancelledTask {
  readonly answer: Cancelled;
  readonly task?: Task;
}

/** The part of the store of tasks that changes by hand need. */
export interface TaskRecords {
  readonly texts: TextCells;
  readonly groups: Groups;
  readonly hints: Hints;
  readonly parents: Parents;
  settle(task: Task, text: string): Promise<void>;
  stamp(): Promise<Stamp>;
}

/**
 * Cancels a task. It is one write by comparison, so either this write or the end of the task comes first, and the other
 * one is refused.
 *
 * | the task         | it                                                                    |
 * | ---------------- | --------------------------------------------------------------------- |
 * | waiting, delayed, blocked | ends as cancelled; its group counts it as failed                      |
 * | claimed by a node | has the wish to cancel from now on; every change of its claim ends it |
 * | claimed by a program | ends as cancelled: the next call of the program is refused        |
 * | awaiting, ended  | stays: its sub-tasks go on                                            |
 * | is to run again  | does not run again, whatever its state is                             |
 *
 * Idempotent: after an error, cancel it again.
 *
 * @throws UnknownOutcomeError if it may have been cancelled
 * @throws StoreUnavailableError, CorruptRecordError, NewerRecordError
 */
export async function cancelTask(
  id: string,
  author: CancelAuthor,
  store: TaskRecords,
  context: Pick<Context, 'events'>,
): Promise<CancelledTask> {
  return isTaskId(id) ? cancelFound(id, undefined, author, store, context) : notThere(id);
}

/**
 * {@link cancelTask} of a task whose text was read already.
 *
 * @param isMeant whether the task is still the one to cancel: the same id may have been submitted again
 */
export async function cancelFound(
  id: string,
  known: string | undefined,
  author: CancelAuthor,
  store: TaskRecords,
  context: Pick<Context, 'events'>,
  isMeant: (task: Task) => boolean = () => true,
): Promise<CancelledTask> {
  const written = new Set<string>();
  let isEndOfClaim = false;
  const rule = async (text: string | undefined): Promise<TextStep<CancelledTask>> => {
    if (text === undefined) return { result: notThere(id) };
    const found = decodeTask(text);
    const isOfProgram = transitions.isOfProgram(found);
    const isDecided = found.ending || (found.cancel && !isOfProgram);
    if ((isDecided && !found.next) || !isMeant(found))
      return { result: { answer: answerOf(found, written, isEndOfClaim), task: found } };
    const stamp = await store.stamp();
    written.add(stamp.nonce);
    isEndOfClaim = isOfProgram;
    const task = isDecided ? transitions.withoutNext(found, stamp) : transitions.cancel(found, author, stamp);
    const write = encodeTask(task);
    const done = async () => {
      if (!isDecided) await settle(task, write, store, context);
      await store.hints.withdraw(text, write);
      return { answer: answerOf(task, written, isEndOfClaim), task };
    };
    return { write, done };
  };
  return store.texts.change(id, rule, { known: known === undefined ? undefined : { text: known } });
}

const notThere = (id: string): CancelledTask => ({ answer: { id, outcome: 'unknown', because: UNKNOWN } });

/** A cancel before it is written. */
export type CancelAuthor = Omit<Cancellation, 'at'>;

/** Why a task can't be changed that is not there. */
export const UNKNOWN = 'no task of this id is in the store: it was never submitted, or it is no longer remembered';

/** It has ended already. If the steps after the end fail now, the sweep takes them. */
async function settle(task: Task, text: string, store: TaskRecords, { events }: Pick<Context, 'events'>) {
  await store.settle(task, text).catch((error: unknown) => {
    events.next({ type: 'problem', action: `tell the group of task ${task.id} that it was cancelled`, error });
  });
}

function answerOf({ id, ending, state }: Task, written: ReadonlySet<string>, isEndOfClaim: boolean): Cancelled {
  if (!ending) return { id, outcome: 'requested', because: state === 'blocked' ? AT_ITS_TURN : REQUESTED };
  if (written.has(ending.by))
    return { id, outcome: 'cancelled', because: isEndOfClaim ? PROGRAM : 'no node worked on it' };
  const how = ending.outcome === 'cancelled' ? 'it was cancelled before' : `it had ended before (${ending.outcome})`;
  return { id, outcome: 'ended', because: how };
}

const AT_ITS_TURN = 'it ends as cancelled when its turn in its queue comes, and does not run';
const PROGRAM = 'a program had claimed it: its next call is refused';
const REQUESTED = 'a node works on it: the signal of its handler aborts, and its result is refused';
