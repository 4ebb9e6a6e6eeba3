import { Injectable, Logger } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { LeaderOnly, currentPermit } from 'nestjs-gatekeeper';
import { QueuesClient } from './queues.client.js';
import { QUEUES } from './queues.js';

const MESSAGES = 3;

/** The leader alone polls for new messages and puts them into the queues. All nodes have this timer. */
@Injectable()
export class Poller {
  readonly #logger = new Logger('poller');
  #polled = 0;

  constructor(private readonly queues: QueuesClient) {}

  @LeaderOnly()
  @Interval(2000)
  async poll(): Promise<void> {
    // The leader's term: its token grows with each leader.
    const { token, signal } = currentPermit();
    const queues = this.#source();
    await this.queues.add(queues, token, signal);
    this.#logger.log(`polled messages for ${queues.join(', ')}, with token ${token}`);
  }

  /** Stands for a mailbox or a topic: there is a message for each queue in turn. */
  #source(): string[] {
    return Array.from({ length: MESSAGES }, () => QUEUES[this.#polled++ % QUEUES.length]!);
  }
}
