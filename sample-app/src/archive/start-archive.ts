import { type LogLevel, type LoggerService, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { QueuesController } from '../delivery/queues.controller.js';
import { LedgerController } from '../ledger/ledger.controller.js';
import { ArchiveController } from './archive.controller.js';

@Module({ controllers: [LedgerController, ArchiveController, QueuesController] })
class ArchiveModule {}

/** Stands for the database or file store that all nodes share, and that outlives each of them. */
export async function startArchive(
  port: number,
  logger: LoggerService | LogLevel[] = ['warn', 'error', 'fatal'],
): Promise<{ url: string } & AsyncDisposable> {
  const app = await NestFactory.create(ArchiveModule, { logger });
  await app.listen(port, '127.0.0.1');
  return { url: `http://127.0.0.1:${port}`, [Symbol.asyncDispose]: () => app.close() };
}
