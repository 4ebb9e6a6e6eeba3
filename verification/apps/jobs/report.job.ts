import { setTimeout as pause } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { Cron, CronExpression } from '@nestjs/schedule';
import { ClusterSingleton, GatekeeperService, type RunPermit, currentPermit } from 'nestjs-gatekeeper';
import { Awakening } from '../awakening.js';
import { say } from '../say.js';
import { readSettings } from '../settings.js';

/** Ten seconds: more than three times as long as the permit lasts. */
const PAGES = 20;
const PAGE_TAKES = 500;

/** Written without a look at the permit, as by a program that trusts its lock: only the token protects the resource. */
@Injectable()
export class ReportJob {
  readonly #resource = readSettings().resource!;

  constructor(
    private readonly gatekeeper: GatekeeperService,
    private readonly awakening: Awakening,
  ) {}

  @ClusterSingleton('report', '3s')
  @Cron(CronExpression.EVERY_SECOND)
  async write(): Promise<void> {
    const permit = currentPermit();
    const { semaphore, token, slot } = permit;
    // Another permit with the same end that no code checks: its signal must abort by itself.
    const other = await this.gatekeeper.acquire(`beside-${permit.token}`, { duration: '3s', keepAlive: true });
    this.awakening.watch(permit, other.signal);
    say('begun', { semaphore, token, slot });
    for (let page = 1; page <= PAGES; page++) {
      await this.#writePage(page, permit);
      await pause(PAGE_TAKES);
    }
    say('ended', { semaphore, token: permit.token, isHeld: permit.isHeld });
    await other.release();
  }

  async #writePage(page: number, { semaphore, slot, token }: RunPermit): Promise<void> {
    const url = `${this.#resource}/${semaphore}/${slot}/page-${page}?token=${token}`;
    const { status } = await fetch(url, { method: 'PUT' });
    say('page', { semaphore, page, token, status });
  }
}
