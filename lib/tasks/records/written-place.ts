import { InvalidOptionsError, show } from '../../core/decision/index.js';
import type { Context } from '../../core/context/context.js';
import { StoreUnavailableError, type TransactionCollection } from '../../core/store/index.js';
import type { TextCells } from '../../core/cell/text-cells.js';
import { hintOf, queueName } from './hints.js';
import type { RetainedBytes } from './retained-bytes.js';
import type { Submitted } from '../rules/submission.js';
import type { Dedup } from '../rules/submit-options.js';
import type { Task } from '../rules/task.js';
import { type Submission, submit } from '../rules/transitions.js';

/** Writes that are refused although the text is as expected, until a submission is given up: nothing else ends it. */
const MOST_UNSEEN = 5;

const hidden = (key: string): string =>
  `the text under ${key} can't be written in this transaction, and is not seen there: roll it back and try again`;

/** Where a new task is written: in the store, or in a transaction of the application. */
export interface WrittenPlace {
  readonly texts: Pick<TextCells, 'read' | 'write'>;
  readonly hints: { offerNew(task: Pick<Task, 'type' | 'priority'>, text: string): Promise<void> | undefined };
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

/** A write whose outcome is unknown needs no care here: the transaction is rolled back. */
function placeIn(transaction: TransactionCollection, onWritten: RetainedBytes['note'] = () => undefined): WrittenPlace {
  let unseen = 0;
  return {
    texts: {
      read: (key) => transaction.read(key),
      async write(key, former, next) {
        if (await transaction.compareAndSet(key, former, next)) {
          // Before the commit: after a rollback the count is a little too small, which does no harm to other tasks.
          if (former !== undefined) onWritten(former, next);
          return { isWritten: true };
        }
        const found = await transaction.read(key);
        // Others remove it again each time, or the application's rules hide it from this transaction.
        if (found === former && ++unseen === MOST_UNSEEN) throw new StoreUnavailableError(hidden(key));
        return { isWritten: false, found, isUncertain: false };
      },
    },
    hints: {
      // An addressed task has none: nodes look for it.
      async offerNew({ type, priority }, text) {
        const hint = hintOf(text);
        if (hint !== undefined) await transaction.offer(queueName(type, priority), hint);
      },
    },
  };
}
