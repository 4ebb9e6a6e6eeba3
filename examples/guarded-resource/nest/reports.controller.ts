import { Body, Controller, Get, Param, Put } from '@nestjs/common';
import type { PermitToken } from '../permit-token.js';
import { FenceService } from './fence.service.js';
import { FromPermit } from './permit-token.decorator.js';

/** Slow work on a text before it is stored: a check, an upload, a rendering. */
export abstract class Rendering {
  abstract render(text: string): Promise<string>;
}

// #region controller
@Controller('reports')
export class ReportsController {
  readonly #reports = new Map<string, string>();

  constructor(
    private readonly fence: FenceService,
    private readonly rendering: Rendering,
  ) {}

  @Put(':id')
  async put(@Param('id') id: string, @Body('text') text: string, @FromPermit() permit: PermitToken): Promise<void> {
    const report = await this.rendering.render(text);
    this.fence.admit(permit); // nothing is awaited between this and the write
    this.#reports.set(id, report);
  }

  @Get(':id')
  get(@Param('id') id: string): { text?: string } {
    return { text: this.#reports.get(id) };
  }
}
// #endregion
