import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { InvalidOptionsError } from '../core/decision/index.js';
import { REQUEST_SCOPED_OPTIONS } from './messages.js';
import { GatekeeperService } from './gatekeeper.service.js';

/**
 * Refuses a gatekeeper in request scope. Does not inject it: then it would be in request scope too, as all other parts
 * are, and Nest would not call its hook.
 */
@Injectable()
export class ScopeCheck implements OnModuleInit {
  constructor(@Inject(DiscoveryService) private readonly discovery: DiscoveryService) {}

  /** @throws InvalidOptionsError */
  onModuleInit(): void {
    const wrappers = this.discovery.getProviders().filter(({ token }) => token === GatekeeperService);
    if (wrappers.every((wrapper) => wrapper.isDependencyTreeStatic())) return;
    throw new InvalidOptionsError('GatekeeperModule', [REQUEST_SCOPED_OPTIONS]);
  }
}
