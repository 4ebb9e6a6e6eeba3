import { setTimeout as pause } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { Cron, CronExpression } from '@nestjs/schedule';
import { ClusterSingleton, currentPermit } from 'nestjs-gatekeeper';
import { say } from '../say.js';
import { readSettings } from '../settings.js';

/** Takes two seconds under a permit that lasts for much longer. Meanwhile another job, each node's own, ticks on. */
@Injectable()
export class ErrandJob {
  @ClusterSingleton('errand', '30s')
  @Cron(CronExpression.EVERY_SECOND)
  async run(): Promise<void> {
    const permit = currentPermit();
    const { semaphore, token } = permit;
    say('begun', { semaphore, token });
    await pause(2000);
    say('ended', { semaphore, token, isHeld: permit.isHeld });
  }

  @ClusterSingleton(() => `beside-${readSettings().name}`, '3s')
  @Cron(CronExpression.EVERY_SECOND)
  async beside() {
    say('begun', { semaphore: currentPermit().semaphore });
  }
}
