import { Controller, Get } from '@nestjs/common';
import { GatekeeperService, type GatekeeperState } from 'nestjs-gatekeeper';

/** The holders on all nodes; every node answers the same. */
@Controller()
export class StateController {
  constructor(private readonly gatekeeper: GatekeeperService) {}

  @Get()
  state(): Promise<GatekeeperState> {
    return this.gatekeeper.state();
  }
}
