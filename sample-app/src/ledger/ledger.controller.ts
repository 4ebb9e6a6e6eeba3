import { Body, Controller, Get, Param, Post } from '@nestjs/common';
import { type Entry, Ledger } from './ledger.js';

/** The ledger, in the process that all nodes share. */
@Controller('ledger')
export class LedgerController {
  readonly #ledger = new Ledger();

  @Get(':book')
  read(@Param('book') book: string): Entry[] {
    return this.#ledger.read(book);
  }

  @Post(':book')
  write(@Param('book') book: string, @Body() entry: Entry): { written: boolean } {
    return { written: this.#ledger.write(book, entry) };
  }
}
