import { Injectable } from '@nestjs/common';
import {
  ClusterCron,
  type GroupContext,
  GroupFinishedHandler,
  InvalidTaskError,
  type ScheduleContext,
  type TaskContext,
  TaskHandler,
  TasksService,
  defineTask,
  groupOf,
  single,
} from 'nestjs-gatekeeper';

export const invoice = defineTask<{ order: string }, { pages: number }>('invoice', {
  maxAttempts: 3,
  backoff: { first: '1m' },
});

@Injectable()
export class InvoicesService {
  readonly log: string[] = [];

  constructor(private readonly tasks: TasksService) {}

  async bill(month: string, orders: readonly string[]): Promise<void> {
    const data = orders.map((order) => ({ order }));
    await this.tasks.submitMany(groupOf(invoice, month, data));
  }

  @TaskHandler(invoice)
  async write({ data }: TaskContext<{ order: string }>): Promise<{ pages: number }> {
    if (data.order === '') throw new InvalidTaskError('no order');
    await this.print(data.order);
    await this.tasks.submit(single('reminder', data.order), undefined, { runAt: '14d' });
    return { pages: 1 };
  }

  @GroupFinishedHandler(invoice)
  async close({ group, completed, total }: GroupContext): Promise<void> {
    this.log.push(`${group}: ${completed} of ${total} invoices`);
  }

  @TaskHandler('reminder')
  async remind({ id }: TaskContext): Promise<void> {
    this.log.push(`sent ${id}`);
  }

  @ClusterCron('0 3 1 * *', { name: 'billing' })
  async everyMonth({ plannedAt }: ScheduleContext): Promise<void> {
    await this.bill(plannedAt.toISOString().slice(0, 7), ['a-1', 'a-2']);
  }

  async print(order: string): Promise<void> {
    this.log.push(`printed ${order}`);
  }
}
