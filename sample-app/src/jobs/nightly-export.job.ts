import { Injectable, Logger } from '@nestjs/common';
import { Cron } from '@nestjs/schedule';
import { ClusterSingleton, currentPermit } from 'nestjs-gatekeeper';

/**
 * One node of the cluster exports. All nodes have this timer; the permit decides which of them runs.
 *
 * The permit is kept after the run until it expires (no `atLeastFor`): a node whose clock is a little late finds
 * it taken and does not export a second time. Here the next tick comes before that, and finds the permit still with the
 * same node, which refreshes it: so the export stays where it is until that node ends or freezes.
 */
@Injectable()
export class NightlyExportJob {
  readonly #logger = new Logger('nightly-export');

  @ClusterSingleton('nightly-export')
  @Cron('*/2 * * * * *') // '0 3 * * *' in real life
  async export(): Promise<void> {
    this.#logger.log(`exported, with token ${currentPermit().token}`);
  }
}
