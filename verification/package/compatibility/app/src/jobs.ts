import { Injectable } from '@nestjs/common';
import { Cron, Interval } from '@nestjs/schedule';
import { ClusterSingleton, currentPermit } from 'nestjs-gatekeeper';

@Injectable()
export class Jobs {
  ticks = 0;

  @ClusterSingleton('nightly-export', '10m')
  @Cron('0 3 * * *')
  async nightlyExport(): Promise<number | undefined> {
    return currentPermit().token;
  }

  @ClusterSingleton('tick', '10s')
  @Interval(50)
  async tick(): Promise<void> {
    this.ticks++;
  }
}
