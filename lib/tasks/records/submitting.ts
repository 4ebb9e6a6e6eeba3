import { InvalidOptionsError, show } from '../../core/decision/index.js';
import type { Context } from '../../core/context/context.js';
import type { NamedTask } from '../../core/context/instrumentation.js';
import { StoreUnavailableError, type TransactionCollection } from '../../core/store/index.js';
import type { TextCells, TextPlan } from '../../core/cell/text-cells.js';
import { type Hints, hintOfWrite } from './hints.js';
import type { RetainedBytes } from './retained-bytes.js';
import type { Submitted } from '../rules/answers.js';
import { type NewTask, isKnown } from '../rules/submission.js';
import type { Dedup, Unique } from '../rules/submit-options.js';
import type { Task } from '../rules/task.js';
import { type Stamp, type Submission, submit } from '../rules/transitions.js';
import { decodeTask, encodeTask } from '../rules/task.codec.js';
import { isFrom, resolve } from '../rules/unique.js';

/** Submits a task with `call`, which telemetry observes: it gets the task with its trace. @throws any error of `call` */
export function observedSubmit<E extends { readonly outcome: string }, Some extends NamedTask>(
  { instrumentation }: Pick<Context, 'instrumentation'>,
  task: Some,
  call: (task: Some & { readonly trace?: string }) => Promise<E>,
): Promise<E> {
  if (!instrumentation) return call(task);
  return instrumentation.submit(task, (trace) => call(trace === undefined ? task : { ...task, trace }));
}

/** Writes that are refused although the text is as expected, until a submission is given up: nothing else ends it. */
const MOST_UNSEEN = 5;

const hidden = (key: string): string =>
  `the text under ${key} can't be written in this transaction, and is not seen there: roll it back and try again`;

/** Where a new task is written: in the store, or in a transaction of the application. */
export interface WrittenPlace {
  readonly texts: Pick<TextCells, 'change'>;
}

/** The part of the store of tasks that makes them. */
interface NewTasks {
  readonly context: Pick<Context, 'store'>;
  readonly retained?: Pick<RetainedBytes, 'note'>;
  create(submission: Submission, dedup: Dedup, make: typeof submit, place: WrittenPlace): Promise<Submitted>;
}

/**
 * Submits a task of its own in a transaction of the application: it exists from the commit on.
 *
 * @throws InvalidOptionsError if the store has no transactions, or can't use this one
 * @throws StoreUnavailableError after any other error: then the application must roll back
 */
export async function submitWithin(
  transaction: unknown,
  store: NewTasks,
  submission: Submission,
  dedup: Dedup,
): Promise<Submitted> {
  const texts = store.context.store.within(transaction);
  if (texts) return store.create(submission, dedup, submit, placeIn(texts, store.retained?.note));
  const fault = 'tx: this store takes part in no transaction of the application; postgres() does. Leave it out';
  throw new InvalidOptionsError(`task ${show(submission.id)}`, [fault]);
}

/** As {@link TextCells.change}. A write whose outcome is unknown needs no care here: the transaction is rolled back. */
function placeIn(transaction: TransactionCollection, onWritten: RetainedBytes['note'] = () => undefined): WrittenPlace {
  const change: TextCells['change'] = async (key, rule, { known } = {}) => {
    let unseen = 0;
    for (let text = known ? known.text : await transaction.read(key); ;) {
      const step = await rule(text, false);
      if ('result' in step) return step.result;
      if ('write' in step) {
        const { write, done } = step;
        const hint = hintOfWrite(text, write);
        if (await transaction.compareAndSet(key, text, write, hint && { hint })) {
          // Before the commit: after a rollback the count is a little too small, which does no harm to other tasks.
          if (text !== undefined) onWritten(text, write);
          return done();
        }
      }
      const found = await transaction.read(key);
      // Others remove it again each time, or the application's rules hide it from this transaction.
      if (found === text && 'write' in step && ++unseen === MOST_UNSEEN) throw new StoreUnavailableError(hidden(key));
      text = found;
    }
  };
  return { texts: { change } };
}

/** The answer, with the task if a running attempt at it is to stop. */
interface UniqueSubmitted {
  readonly answer: Submitted;
  readonly task?: Task;
}

/** The part of the store of tasks that makes and changes unique ones. */
interface UniqueTasks {
  readonly texts: Pick<TextCells, 'change'>;
  readonly hints: Pick<Hints, 'withdraw'>;
  create(submission: Submission, dedup: Dedup): Promise<Submitted>;
  stamp(): Promise<Stamp>;
}

/**
 * Submits a task, or changes the unfinished one of its id. Each change is one write by comparison of the task's record,
 * so there is one task of the key at any time. After an error, submit it again: it may then run once more.
 *
 * @throws UnknownOutcomeError if it may have been submitted
 * @throws StoreUnavailableError, CorruptRecordError, NewerRecordError
 */
export async function submitUnique(
  store: UniqueTasks,
  newTask: Omit<NewTask, 'member'>,
  dedup: Dedup,
  unique: Unique,
): Promise<UniqueSubmitted> {
  const { id } = newTask;
  for (;;) {
    const answer = await store.create(newTask, dedup);
    if (answer.outcome === 'created') return { answer };
    const ofFinished = dedup === 'retained' ? { answer } : undefined;
    const changed = await store.texts.change(id, changeOf(store, newTask, unique, ofFinished));
    // Else it has ended since.
    if (changed) return changed;
  }
}

/** @param ofFinished result for a task that has ended since @returns a rule whose result is undefined if none is there to change */
function changeOf(
  store: UniqueTasks,
  newTask: Omit<NewTask, 'member'>,
  unique: Unique,
  ofFinished: UniqueSubmitted | undefined,
): TextPlan<UniqueSubmitted | undefined> {
  const made = new Map<string, UniqueSubmitted>();
  return async (text) => {
    const task = text === undefined ? undefined : decodeTask(text);
    const own = task && [...made.keys()].find((nonce) => isFrom(task, nonce));
    if (own !== undefined) return { result: made.get(own) };
    if (text === undefined || !task) return { result: undefined };
    if (task.state === 'finished') return { result: ofFinished };
    const stamp = await store.stamp();
    const resolved = resolve(task, newTask, unique, stamp);
    if (!resolved) return { result: { answer: isKnown(task) } };
    const { outcome, because } = resolved;
    const submitted = { answer: { id: task.id, outcome, because }, task: resolved.task };
    made.set(stamp.nonce, submitted);
    const write = encodeTask(resolved.task);
    const done = async () => {
      await store.hints.withdraw(text, write);
      return submitted;
    };
    return { write, done };
  };
}
