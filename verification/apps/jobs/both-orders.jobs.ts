import { setTimeout as pause } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { Cron, CronExpression } from '@nestjs/schedule';
import { ClusterSingleton } from 'nestjs-gatekeeper';
import { say } from '../say.js';

/** ms: over before a node whose clock is 80 ms late ticks. */
const TAKES = 20;

/** A 20 ms job, guarded above and below its schedule, and with a permit that goes back: late enough, and too early. */
@Injectable()
export class BothOrdersJobs {
  @ClusterSingleton('above', '5s')
  @Cron(CronExpression.EVERY_SECOND)
  above(): Promise<void> {
    return work('above');
  }

  @Cron(CronExpression.EVERY_SECOND)
  @ClusterSingleton('below', '5s')
  below(): Promise<void> {
    return work('below');
  }

  @ClusterSingleton('given-back', '5s', { atLeastFor: '600ms' })
  @Cron(CronExpression.EVERY_SECOND)
  givenBack(): Promise<void> {
    return work('given-back');
  }

  @ClusterSingleton('given-back-too-early', '5s', { atLeastFor: 0 })
  @Cron(CronExpression.EVERY_SECOND)
  givenBackTooEarly(): Promise<void> {
    return work('given-back-too-early');
  }
}

async function work(semaphore: string): Promise<void> {
  say('ran', { semaphore });
  await pause(TAKES);
}
