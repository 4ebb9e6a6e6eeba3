import { Controller, Get } from '@nestjs/common';
import { GatekeeperService, type GatekeeperState } from 'nestjs-gatekeeper';

/** Shows that the app answers, and what it knows. */
@Controller()
export class StateController {
  constructor(private readonly gatekeeper: GatekeeperService) {}

  @Get()
  state(): Promise<GatekeeperState> {
    return this.gatekeeper.state();
  }
}
