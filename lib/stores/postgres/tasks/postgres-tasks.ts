import type { Timers } from '../../../core/async/timers.js';
import type { HintQueue, SortedTexts, TaskStorage, Texts, TransactionTexts } from '../../../core/store/task-storage.js';
import type { Calls } from '../calls.js';
import type { ChangeFeed } from '../hints/change-feed.js';
import type { WaitingPolls } from '../hints/waiting-polls.js';
import type { Tables } from '../tables.js';
import { SortedTableTexts, TableTexts } from './table-texts.js';
import { TableQueue } from './table-queue.js';
import { PostgresTransaction } from './transaction.js';

interface Needs {
  readonly calls: Calls;
  readonly tables: Tables;
  readonly polls: WaitingPolls;
  readonly timers: Timers;
  /** ms that a call may take */
  readonly timeout: number;
  readonly feed: Pick<ChangeFeed, 'offered' | 'noticeOf'>;
}

/** Tasks, groups and hints in three tables. */
export class PostgresTasks implements TaskStorage {
  readonly tasks: SortedTexts;
  readonly groups: Texts;

  constructor(private readonly needs: Needs) {
    const { calls, tables } = needs;
    this.tasks = new SortedTableTexts(calls, tables.tasks, needs);
    this.groups = new TableTexts(calls, tables.groups, needs);
  }

  queue(name: string): HintQueue {
    const { calls, polls, feed, tables } = this.needs;
    return new TableQueue(name, { calls, polls, table: tables.hints, offered: () => feed.offered(name) });
  }

  within(transaction: unknown): TransactionTexts {
    const { tables, feed } = this.needs;
    return new PostgresTransaction(transaction, { tables, noticeOf: (queue) => feed.noticeOf(queue) });
  }
}
