import { Injectable, Logger } from '@nestjs/common';
import { Cron } from '@nestjs/schedule';
import { ClusterSingleton, GatekeeperService, currentPermit } from 'nestjs-gatekeeper';

const CUSTOMERS = ['Ada', 'Barbara', 'Edsger', 'Frances', 'Grace', 'Leslie', 'Nancy', 'Niklaus'];

/**
 * Several nodes at once, each with its share. The permit's slot is the node's number among those that hold one, so
 * "slot 0 of 2" takes every second customer, and "slot 1 of 2" the others.
 *
 * A share is served only while its slot is held: with fewer nodes than permits some customers wait. Work that must be
 * complete at every tick should ask the store of the work who was served, and not count on shares alone.
 */
@Injectable()
export class MailingJob {
  readonly #logger = new Logger('mailing');

  constructor(private readonly gatekeeper: GatekeeperService) {}

  @ClusterSingleton('mailing')
  @Cron('*/5 * * * * *')
  async send(): Promise<void> {
    const { slot } = currentPermit();
    const nodes = await this.#nodes();
    const share = CUSTOMERS.filter((_, index) => index % nodes === slot);
    this.#logger.log(`node ${slot} of ${nodes} mailed ${share.join(', ')}`);
  }

  /** As the definition stands now: an operator may have edited it since the start. */
  async #nodes(): Promise<number> {
    const { definition } = (await this.gatekeeper.definitions.get('mailing')) ?? {};
    return definition?.permits ?? 0;
  }
}
