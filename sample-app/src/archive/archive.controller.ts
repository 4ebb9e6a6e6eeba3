import { Body, ConflictException, Controller, Get, Logger, Param, ParseIntPipe, Put, Query } from '@nestjs/common';
import { Fence } from './fence.js';

export interface ArchivedDocument {
  readonly document: string;
  readonly token: number;
  readonly text: string;
}

/** A guarded resource: it takes a document only with a token that is not stale. */
@Controller()
export class ArchiveController {
  readonly #logger = new Logger('archive');
  readonly #fence = new Fence();
  readonly #documents = new Map<string, ArchivedDocument>();
  readonly #refused: { place: string; document: string; token: number; highest: number }[] = [];

  @Get()
  all() {
    return { documents: [...this.#documents.values()], refused: this.#refused };
  }

  @Put(':semaphore/:slot/:document')
  put(
    @Param('semaphore') semaphore: string,
    @Param('slot') slot: string,
    @Param('document') document: string,
    @Query('token', ParseIntPipe) token: number,
    @Body('text') text: string,
  ): void {
    const place = `${semaphore}/${slot}`;
    if (!this.#fence.admits(place, token)) throw this.#refuse(place, document, token);
    this.#documents.set(`${place}/${document}`, { document: `${place}/${document}`, token, text });
  }

  #refuse(place: string, document: string, token: number): ConflictException {
    const highest = this.#fence.highest(place);
    this.#refused.push({ place, document, token, highest });
    this.#logger.warn(`refused ${document} of ${place}: token ${token} is stale, ${highest} has written`);
    return new ConflictException(`token ${token} is stale: ${highest} has written to ${place}`);
  }
}
