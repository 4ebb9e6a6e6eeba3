import { Injectable, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { say, sharedNow } from './say.js';

/** ms between two looks. */
const INTERVAL = 20;
/** ms without a look that are worth a line. */
const STALLED = 100;

/** Tells when a busy machine gave this process no time: what was due meanwhile is late, and shows nothing. */
@Injectable()
export class Stalls implements OnModuleInit, OnModuleDestroy {
  #timer?: NodeJS.Timeout;
  #last = sharedNow();

  onModuleInit(): void {
    this.#timer = setInterval(() => this.#look(), INTERVAL);
  }

  onModuleDestroy(): void {
    clearInterval(this.#timer);
  }

  #look(): void {
    const now = sharedNow();
    if (now - this.#last > STALLED) say('stalled', { since: this.#last });
    this.#last = now;
  }
}
