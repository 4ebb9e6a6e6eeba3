import { setTimeout as pause } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { Cron, CronExpression } from '@nestjs/schedule';
import { ClusterSingleton, type PermitLostError, currentPermit } from 'nestjs-gatekeeper';
import { say } from '../say.js';

/** Runs until its signal reports the end of its permit. */
@Injectable()
export class LongJob {
  @ClusterSingleton('long', '3s')
  @Cron(CronExpression.EVERY_SECOND)
  async run(): Promise<void> {
    const { semaphore, token, signal } = currentPermit();
    say('begun', { semaphore, token });
    await pause(120_000, undefined, { signal }).catch(() => undefined);
    say('ended', { semaphore, token, told: (signal.reason as PermitLostError | undefined)?.reason });
  }
}
