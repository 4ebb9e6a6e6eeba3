import { Inject, Injectable } from '@nestjs/common';
import type { HealthFault, HealthWarning } from '../operate/insight/index.js';
import { GatekeeperService } from './gatekeeper.service.js';
import { SharedService } from './shared-services.js';

/** Result of {@link GatekeeperHealthIndicator.isHealthy}, in the form of `@nestjs/terminus`. */
export interface GatekeeperHealthDetails {
  /** `down` if no permit is granted through this node. */
  readonly status: 'up' | 'down';
  /** `degraded`: permits are granted, but there are faults. */
  readonly health: 'healthy' | 'degraded' | 'down';
  /** Present if there are any. */
  readonly faults?: readonly Pick<HealthFault, 'code' | 'sentence'>[];
  /** Jobs of this node that missed a run, and holders that are not heard of. They never change the status. Present if there are any. */
  readonly warnings?: readonly Pick<HealthWarning, 'code' | 'semaphore' | 'sentence'>[];
}

/**
 * Health indicator for `@nestjs/terminus` 11 or newer. It needs nothing of that package, so applications without it can
 * inject it, too.
 */
@Injectable()
@SharedService('GatekeeperHealthIndicator')
export class GatekeeperHealthIndicator {
  constructor(@Inject(GatekeeperService) private readonly gatekeeper: GatekeeperService) {}

  /**
   * Asks the store, unless it has just answered. Takes at most 5 s. Never rejects.
   *
   * @param key of the result
   * @param options `whileDegraded: 'down'`: the status is `down` with any fault. Default `'up'`: only if no permit is granted
   */
  async isHealthy<const Key extends string = 'gatekeeper'>(
    key?: Key,
    { whileDegraded = 'up' }: { readonly whileDegraded?: 'up' | 'down' } = {},
  ): Promise<Record<Key, GatekeeperHealthDetails>> {
    const { status: health, faults, warnings } = await this.gatekeeper.checkHealth({ warnings: true });
    const status = health === 'degraded' ? whileDegraded : health === 'healthy' ? 'up' : 'down';
    const known = faults.map(({ code, sentence }) => ({ code, sentence }));
    const warned = warnings?.map(({ code, semaphore, sentence }) => ({ code, semaphore, sentence }));
    const details = { status, health, ...(known.length > 0 && { faults: known }), ...(warned && { warnings: warned }) };
    return { [key ?? 'gatekeeper']: details } as Record<Key, GatekeeperHealthDetails>;
  }
}
