import { setTimeout as pause } from 'node:timers/promises';
import { Injectable, Logger } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import {
  AllocatedResources,
  type Allocated,
  type AllocationGroup,
  AllocationService,
  type Ownership,
} from 'nestjs-gatekeeper';
import { QueuesClient } from './queues.client.js';
import { QUEUE_GROUP } from './queues.js';

/**
 * Each node delivers only from the queues that it owns, and each queue has one owner.
 *
 * When a queue must go to another node, there are three lines of defence, as for a permit:
 * - `ownership.signal` aborts, and the other node waits until the work here has ended;
 * - `ownership.assertOwned()` reads the clocks itself, so it is right also after the process was frozen;
 * - the queues refuse the token of the former owner: right even if the process froze on the way to them.
 */
@Injectable()
export class Delivery {
  readonly #logger = new Logger('delivery');
  readonly #group: AllocationGroup;
  /** Queues of which a message is being delivered. */
  readonly #busy = new Set<string>();

  constructor(
    allocation: AllocationService,
    private readonly queues: QueuesClient,
  ) {
    this.#group = allocation.group(QUEUE_GROUP);
  }

  /** Runs after each change of what this node owns. The next owner of a queue waits for its end. */
  @AllocatedResources(QUEUE_GROUP)
  tell(owned: readonly Allocated[]): void {
    this.#logger.log(`owns ${owned.length} queues: ${owned.map(({ id }) => id).join(', ') || 'none'}`);
  }

  @Interval(500)
  async deliver(): Promise<void> {
    const idle = this.#group.owned().filter(({ id }) => !this.#busy.has(id));
    await Promise.all(idle.map(({ id }) => this.#deliverFrom(id)));
  }

  async #deliverFrom(queue: string): Promise<void> {
    this.#busy.add(queue);
    try {
      await this.#group.run(queue, (ownership) => this.#deliverNext(ownership));
    } finally {
      this.#busy.delete(queue);
    }
  }

  async #deliverNext(ownership: Ownership): Promise<void> {
    const { resource: queue, token, signal } = ownership;
    try {
      const message = await this.queues.next(queue, signal);
      if (message === undefined) return;
      await send(message, signal);
      ownership.assertOwned();
      await this.queues.remove(queue, message, token, signal);
      this.#logger.verbose(`delivered message ${message} of ${queue}, with token ${token}`);
    } catch (error) {
      // A fault that has nothing to do with the owner: @nestjs/schedule logs it.
      if (ownership.isOwned) throw error;
      // The new owner of the queue delivers the message.
      // An error of work that the signal aborted has the reason as its cause.
      const { cause = error } = error as Error;
      this.#logger.warn(`stopped: ${(cause as Error).message}`);
    }
  }
}

/** Stands for the time that a delivery takes. */
async function send(_message: number, signal: AbortSignal): Promise<void> {
  await pause(100, undefined, { signal });
}
