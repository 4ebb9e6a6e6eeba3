import { Controller, HttpCode, Param, Post, UseInterceptors } from '@nestjs/common';
import { UnavailableInterceptor } from './imports/unavailable.interceptor.js';
import { MailMerge } from './tasks/mail-merge.js';
import { MonthEnd } from './tasks/month-end.js';
import { Reconciliation } from './tasks/reconciliation.js';

const FILES = Array.from({ length: 40 }, (_, index) => `file ${index + 1}`);
const CUSTOMERS = ['ada', 'barbara', 'edsger', 'frances', 'grace', 'leslie'];
const PAGES = 8;

/** Begins the examples of tasks, on any node. All nodes work on them. */
@Controller()
@UseInterceptors(UnavailableInterceptor)
export class TasksController {
  constructor(
    private readonly reconciliation: Reconciliation,
    private readonly mailMerge: MailMerge,
    private readonly monthEnd: MonthEnd,
  ) {}

  @Post('reconciliations/:month')
  @HttpCode(202)
  reconcile(@Param('month') month: string): Promise<void> {
    return this.reconciliation.begin(month);
  }

  @Post('mail-merges/:name')
  @HttpCode(202)
  merge(@Param('name') name: string): Promise<void> {
    return this.mailMerge.begin(name, CUSTOMERS, PAGES);
  }

  @Post('month-ends/:month')
  @HttpCode(202)
  endMonth(@Param('month') month: string): Promise<void> {
    return this.monthEnd.begin(month, FILES, ['balance', 'taxes', 'summary']);
  }
}
