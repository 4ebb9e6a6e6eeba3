import { Injectable, Logger } from '@nestjs/common';
import {
  type GroupContext,
  GroupFinishedHandler,
  InvalidTaskError,
  type TaskContext,
  TaskHandler,
  TasksService,
  defineTask,
  groupOf,
  grouped,
  wholeGroup,
} from 'nestjs-gatekeeper';
import { LedgerClient } from '../ledger/ledger.client.js';
import { Work } from '../work.js';

type File = { file: string };
type Part = { part: string };

const importFile = defineTask<File>('import-file');
const reportPart = defineTask<Part>('report-part');

/** The parts of a report are written when all files of the month have been imported. */
@Injectable()
export class MonthEnd {
  readonly #logger = new Logger('month-end');

  constructor(
    private readonly tasks: TasksService,
    private readonly ledger: LedgerClient,
    private readonly work: Work,
  ) {}

  async begin(month: string, files: readonly string[], parts: readonly string[]): Promise<void> {
    const data = files.map((file) => ({ file }));
    await this.tasks.submitMany(groupOf(importFile, month, data));
    const after = [wholeGroup(importFile, month)];
    await this.tasks.submitMany(
      parts.map((part, index) => ({
        name: grouped(reportPart, month, index + 1, parts.length),
        data: { part },
        options: { after },
      })),
    );
  }

  @TaskHandler(importFile, { lease: '4s' })
  async import(task: TaskContext<File>): Promise<void> {
    await this.work.take(task.signal);
    await this.ledger.write('imported', task, task.data);
  }

  /** Its end is the end of the group. If it throws, the report is cancelled. */
  @GroupFinishedHandler(importFile, { lease: '4s' })
  async check({ group, failed }: GroupContext): Promise<void> {
    if (failed > 0) throw new InvalidTaskError(`${failed} files of ${group} are missing`);
  }

  @TaskHandler(reportPart, { lease: '4s' })
  async write(task: TaskContext<Part>): Promise<void> {
    await this.work.take(task.signal);
    await this.ledger.write('report-parts', task, task.data);
  }

  @GroupFinishedHandler(reportPart, { lease: '4s' })
  async publish(report: GroupContext): Promise<void> {
    const { group, completed, total } = report;
    if (completed < total) return this.#logger.warn(`the report of ${group} is not published: parts are missing`);
    await this.ledger.write('reports', report, { month: group });
    this.#logger.log(`published the report of ${group}`);
  }
}
