import { Injectable } from '@nestjs/common';
import { type TaskContext, TaskHandler, TasksService, defineTask, single } from 'nestjs-gatekeeper';
import { LedgerClient } from '../ledger/ledger.client.js';
import { Work } from '../work.js';

type Letter = { customer: string; page: number };

const letter = defineTask<Letter>('letter');

/** Each customer gets the letters one by one and in order, from any node; customers do not wait for each other. */
@Injectable()
export class MailMerge {
  constructor(
    private readonly tasks: TasksService,
    private readonly ledger: LedgerClient,
    private readonly work: Work,
  ) {}

  async begin(merge: string, customers: readonly string[], pages: number): Promise<void> {
    await Promise.all(customers.map((customer) => this.#submit(merge, customer, pages)));
  }

  @TaskHandler(letter, { lease: '4s' })
  async send(task: TaskContext<Letter>): Promise<void> {
    const begunAt = performance.timeOrigin + performance.now();
    await this.work.take(task.signal);
    await this.ledger.write('letters', task, {
      ...task.data,
      begunAt,
      sentAt: performance.timeOrigin + performance.now(),
    });
  }

  /** One after the other: the order of the queue is that of the answers. */
  async #submit(merge: string, customer: string, pages: number): Promise<void> {
    for (let page = 1; page <= pages; page++) {
      const name = single(letter, `${merge} ${customer} ${page}`);
      await this.tasks.submitSerial(`letters to ${customer}`, name, { customer, page });
    }
  }
}
