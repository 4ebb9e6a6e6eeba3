import {
  Body,
  ConflictException,
  Controller,
  Delete,
  Get,
  Logger,
  Param,
  ParseIntPipe,
  Post,
  Query,
} from '@nestjs/common';
import { Fence } from '../archive/fence.js';

/** Number of a message in its queue: 1, 2, 3 ... */
interface Queue {
  added: number;
  readonly waiting: number[];
}

/**
 * The queues of messages, in the process that all nodes share. They are guarded resources: messages are added with the
 * token of the leader's term, and removed with the token of the queue's owner.
 */
@Controller('queues')
export class QueuesController {
  readonly #logger = new Logger('queues');
  readonly #fence = new Fence();
  readonly #queues = new Map<string, Queue>();
  readonly #refused: { place: string; token: number; highest: number }[] = [];

  @Get()
  all() {
    const waiting = [...this.#queues].map(([queue, { waiting: messages }]) => [queue, messages] as const);
    return { waiting: Object.fromEntries(waiting), refused: this.#refused };
  }

  @Post()
  add(@Body('queues') queues: readonly string[], @Query('token', ParseIntPipe) token: number): void {
    this.#admit('new messages', token);
    for (const name of queues) {
      const queue = this.#queues.get(name) ?? { added: 0, waiting: [] };
      this.#queues.set(name, queue);
      queue.waiting.push(++queue.added);
    }
  }

  @Get(':queue')
  next(@Param('queue') name: string): { message?: number | undefined } {
    return { message: this.#queues.get(name)?.waiting[0] };
  }

  @Delete(':queue/:message')
  remove(
    @Param('queue') name: string,
    @Param('message', ParseIntPipe) message: number,
    @Query('token', ParseIntPipe) token: number,
  ): void {
    this.#admit(name, token);
    const { waiting } = this.#queues.get(name) ?? { waiting: [] };
    if (waiting[0] === message) waiting.shift();
  }

  #admit(place: string, token: number): void {
    if (this.#fence.admits(place, token)) return;
    const highest = this.#fence.highest(place);
    this.#refused.push({ place, token, highest });
    this.#logger.warn(`refused token ${token} of ${place}: it is stale, ${highest} has written`);
    throw new ConflictException(`token ${token} is stale: ${highest} has written to ${place}`);
  }
}
