import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { ConflictException, Controller, NotFoundException, Param, Post, UseInterceptors } from '@nestjs/common';
import { GatekeeperService, type Permit } from 'nestjs-gatekeeper';
import { UnavailableInterceptor } from './unavailable.interceptor.js';

const TENANTS = new Set(['acme', 'globex', 'initech']);
const CHUNKS = 5;

/** A permit taken by hand: one import per tenant at a time in the whole cluster, whichever nodes are asked. */
@Controller('imports')
@UseInterceptors(UnavailableInterceptor)
export class ImportsController {
  constructor(private readonly gatekeeper: GatekeeperService) {}

  @Post(':tenant')
  async import(@Param('tenant') tenant: string) {
    // Each name that is used becomes a record in the store, so callers must not invent them.
    if (!TENANTS.has(tenant)) throw new NotFoundException(`no tenant ${tenant}: there are ${[...TENANTS].join(', ')}`);
    const semaphore = `import-${tenant}`;
    // Given back at the end of the block, however it is left.
    await using permit = await this.gatekeeper.tryAcquire(semaphore, {
      duration: '10s',
      keepAlive: true,
      // Without a holder of its own, a second request to this node would share the permit of the first.
      holder: randomUUID(),
    });
    if (!permit) throw await this.#conflict(semaphore);
    await importInChunks(permit);
    return { tenant, importedBy: permit.acquirer, token: permit.token };
  }

  /** A denial is a value, not an error; `explain` says who is in the way, and until when. */
  async #conflict(semaphore: string): Promise<ConflictException> {
    const { sentence, holders } = await this.gatekeeper.explain(semaphore);
    const heldBy = holders.map(({ acquirer, expiresAt }) => ({ acquirer, until: new Date(expiresAt).toISOString() }));
    return new ConflictException({ message: `another import goes on: ${sentence}`, heldBy });
  }
}

/** Stands for five seconds of hard work. */
async function importInChunks(permit: Permit): Promise<void> {
  for (let chunk = 1; chunk <= CHUNKS; chunk++) {
    await pause(1000);
    permit.assertHeld();
  }
}
