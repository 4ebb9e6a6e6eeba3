import { setTimeout as pause } from 'node:timers/promises';
import { Injectable, Logger } from '@nestjs/common';
import { Cron } from '@nestjs/schedule';
import { ClusterSingleton, currentPermit } from 'nestjs-gatekeeper';
import { ArchiveClient } from '../archive/archive.client.js';

const PAGES = 8;

/**
 * A run that takes longer than its permit lasts: 8 s of work on a permit of 4 s. The permit is refreshed while the run
 * goes on (`keepAlive`, on by default), so the duration only says how soon another node may take over from a dead one.
 *
 * What if the node was not dead but frozen, and wakes up in the middle of a page? Three lines of defence:
 * - `permit.signal` aborts what is under way as soon as this process learns that its permit is over;
 * - `permit.assertHeld()` reads the clocks itself, so it is right also before anything could be signalled;
 * - the archive refuses the token of the older permit: right even if the process froze on the way to the archive.
 */
@Injectable()
export class ReportJob {
  readonly #logger = new Logger('report');

  constructor(private readonly archive: ArchiveClient) {}

  @ClusterSingleton('report', '4s')
  @Cron('*/10 * * * * *')
  async write(): Promise<void> {
    const permit = currentPermit();
    try {
      for (let page = 1; page <= PAGES; page++) await this.#writePage(page);
      this.#logger.log(`archived ${PAGES} pages, with token ${permit.token}`);
    } catch (error) {
      // A fault that has nothing to do with the permit: @nestjs/schedule logs it.
      if (permit.isHeld) throw error;
      // The new holder of the permit begins the report anew: nothing is left to do here.
      // An error of work that the signal aborted has the loss of the permit as its cause.
      const { cause = error } = error as Error;
      this.#logger.warn(`stopped: ${(cause as Error).message}`);
    }
  }

  async #writePage(page: number): Promise<void> {
    const permit = currentPermit();
    const text = await render(page, permit.signal);
    permit.assertHeld();
    await this.archive.put(`page-${page}`, text);
    this.#logger.verbose(`page ${page} of ${PAGES} archived, with token ${permit.token}`);
  }
}

/** Stands for a second of hard work. */
async function render(page: number, signal: AbortSignal): Promise<string> {
  await pause(1000, undefined, { signal });
  return `text of page ${page}`;
}
