import { setTimeout as pause } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { Cron, CronExpression } from '@nestjs/schedule';
import { ClusterSingleton, currentPermit } from 'nestjs-gatekeeper';
import { say } from '../say.js';

@Injectable()
export class ShortJob {
  @ClusterSingleton('short', '3s')
  @Cron(CronExpression.EVERY_SECOND)
  async run(): Promise<void> {
    const { semaphore, token } = currentPermit();
    say('begun', { semaphore, token });
    await pause(20);
    say('ended', { semaphore, token });
  }
}
