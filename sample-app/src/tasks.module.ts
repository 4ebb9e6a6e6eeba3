import { Module } from '@nestjs/common';
import { LedgerClient } from './ledger/ledger.client.js';
import { TasksController } from './tasks.controller.js';
import { DigestJob } from './jobs/digest.job.js';
import { MailMerge } from './tasks/mail-merge.js';
import { MonthEnd } from './tasks/month-end.js';
import { Reconciliation } from './tasks/reconciliation.js';
import { Work } from './work.js';

/** The examples of distributed tasks. */
@Module({
  controllers: [TasksController],
  providers: [DigestJob, Reconciliation, MailMerge, MonthEnd, LedgerClient, Work],
})
export class TasksModule {}
