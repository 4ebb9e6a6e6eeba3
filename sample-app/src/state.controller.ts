import { Controller, Get } from '@nestjs/common';
import { GatekeeperService, type GatekeeperState } from 'nestjs-gatekeeper';

/** Who holds what on all nodes, whichever node one asks. */
@Controller()
export class StateController {
  constructor(private readonly gatekeeper: GatekeeperService) {}

  @Get()
  state(): Promise<GatekeeperState> {
    return this.gatekeeper.state();
  }
}
