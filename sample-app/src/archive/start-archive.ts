import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { QueuesController } from '../delivery/queues.controller.js';
import { LedgerController } from '../ledger/ledger.controller.js';
import { FAULTS, ShortLog } from '../short-log.js';
import { ArchiveController } from './archive.controller.js';

@Module({ controllers: [LedgerController, ArchiveController, QueuesController] })
class ArchiveModule {}

/** Stands for the database or file store that all nodes share, and that outlives each of them. It takes a free port. */
export async function startArchive(): Promise<{ url: string } & AsyncDisposable> {
  const app = await NestFactory.create(ArchiveModule, { logger: new ShortLog(FAULTS) });
  await app.listen(0, '127.0.0.1');
  return { url: await app.getUrl(), [Symbol.asyncDispose]: () => app.close() };
}
