import { setTimeout as pause } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { Cron, CronExpression, Interval } from '@nestjs/schedule';
import { ClusterSingleton, currentPermit } from 'nestjs-gatekeeper';
import { chances } from './chances.js';
import { readSoakSettings } from './soak.settings.js';

/** The error of a failing job: the only error that the scheduler's own log may show. */
export class JobFailed extends Error {}

const { names } = readSoakSettings();

/** Jobs on a schedule, of every kind that the decorator knows. */
@Injectable()
export class TickingJobs {
  #next = chances.whole(0, names - 1);

  /** Held from tick to tick: stays on one node. */
  @ClusterSingleton('steady', '5s')
  @Cron(CronExpression.EVERY_SECOND)
  async steady(): Promise<void> {
    await pause(chances.whole(0, 50));
  }

  @Interval(700)
  @ClusterSingleton('spread', '3s', { atLeastFor: '600ms' })
  async spread(): Promise<void> {
    await pause(chances.whole(0, 300));
  }

  /** Takes longer than its permit lasts: it lives by its keep-alive, and its ticks meanwhile overlap. */
  @ClusterSingleton('long', '2s', { atLeastFor: 0, overlap: 'skip' })
  @Interval(900)
  async long(): Promise<void> {
    const { signal } = currentPermit();
    await pause(chances.whole(500, 6000), undefined, { signal }).catch(() => undefined);
  }

  /** Its permit is taken from it before it ends. */
  @ClusterSingleton('hung', '2s', { atLeastFor: 0, maxRunTime: '1s' })
  @Interval(2900)
  async hung(): Promise<void> {
    const { signal } = currentPermit();
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
  }

  @ClusterSingleton('failing', '2s', { atLeastFor: 0 })
  @Interval(1300)
  async failing(): Promise<void> {
    await pause(chances.whole(0, 20));
    throw new JobFailed('as it does each time');
  }

  /** One after another, so that each of the names has come and gone before the figures count. */
  @Interval(40)
  async eachTenant(): Promise<void> {
    this.#next = (this.#next + 1) % names;
    await this.tenant(this.#next);
  }

  @ClusterSingleton((tenant: number) => `tenant-${tenant}`, '2s', { atLeastFor: 0 })
  private async tenant(_tenant: number): Promise<void> {
    await currentPermit().extend();
    currentPermit().assertHeld();
  }
}
