import { Injectable, Logger } from '@nestjs/common';
import {
  type GroupContext,
  GroupFinishedHandler,
  type TaskContext,
  TaskHandler,
  TasksService,
  defineTask,
  grouped,
} from 'nestjs-gatekeeper';
import { LedgerClient } from '../ledger/ledger.client.js';
import { Work } from '../work.js';

type Month = { sets: number };
type RecordSet = { set: number };
type Compared = { difference: number };

const reconcile = defineTask<Month>('reconcile');
const recordSet = defineTask<RecordSet, Compared>('record-set');

/** A task per month divides the month into record sets: sub-tasks, which all nodes compare. */
@Injectable()
export class Reconciliation {
  readonly #logger = new Logger('reconciliation');

  constructor(
    private readonly tasks: TasksService,
    private readonly ledger: LedgerClient,
    private readonly work: Work,
  ) {}

  async begin(month: string, sets = 100): Promise<void> {
    await this.tasks.submit(grouped(reconcile, month, 1, 1), { sets });
  }

  /** After a crash it runs again, and submits the same names: these are the same sub-tasks. */
  @TaskHandler(reconcile, { lease: '4s' })
  async divide({ data, submitMany }: TaskContext<Month>): Promise<void> {
    const { sets } = data;
    const numbers = Array.from({ length: sets }, (_, index) => index + 1);
    await submitMany(numbers.map((set) => ({ name: grouped(recordSet, 'sets', set, sets), data: { set } })));
  }

  @TaskHandler(recordSet, { lease: '4s' })
  async compare(task: TaskContext<RecordSet>): Promise<Compared> {
    await this.work.take(task.signal);
    await this.ledger.write('record-sets', task, task.data);
    return { difference: task.data.set % 10 };
  }

  /** The first join: runs when all record sets have ended. */
  @GroupFinishedHandler(recordSet, { lease: '4s' })
  async sumUp(sets: GroupContext<Compared>): Promise<void> {
    let difference = 0;
    for await (const { result } of sets.members()) difference += result?.difference ?? 0;
    const { completed, total } = sets;
    await this.ledger.write('differences', sets, { difference, completed, total });
    this.#logger.log(`summed up ${completed} of ${total} record sets: difference ${difference}`);
  }

  /** The second join: runs when the month has ended, which is after the first join. */
  @GroupFinishedHandler(reconcile, { lease: '4s' })
  async close(month: GroupContext): Promise<void> {
    await this.ledger.write('closed-months', month, { month: month.group, failed: month.failed });
    this.#logger.log(`closed ${month.group}`);
  }
}
