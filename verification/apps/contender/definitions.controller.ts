import { Controller, Get, Param, Put } from '@nestjs/common';
import { type DefinitionState, GatekeeperService } from 'nestjs-gatekeeper';

/** Lets tests change definitions as operators do. */
@Controller('definitions/:name')
export class Definitions {
  constructor(private readonly gatekeeper: GatekeeperService) {}

  @Get()
  async get(@Param('name') name: string): Promise<DefinitionState | { definition: null }> {
    return (await this.gatekeeper.definitions.get(name)) ?? { definition: null };
  }

  @Put('permits/:permits')
  edit(@Param('name') name: string, @Param('permits') permits: string): Promise<DefinitionState> {
    return this.gatekeeper.definitions.edit(name, { permits: Number(permits) });
  }
}
