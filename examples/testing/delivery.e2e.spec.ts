import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Test, type TestingModule } from '@nestjs/testing';
import { filter, firstValueFrom } from 'rxjs';
import { AllocationService, ClusterService, GatekeeperModule, GatekeeperService, memory } from 'nestjs-gatekeeper';
import { DeliveryService } from './delivery.service.js';

const queues = { name: 'queues', resources: () => ['berlin', 'cairo'], id: (name: string) => name };

describe('the delivery over memory()', () => {
  let module: TestingModule;
  beforeEach(async () => {
    const gatekeeper = new GatekeeperService({
      store: memory(),
      leadership: { enabled: true },
      allocation: { groups: [queues] },
      membership: { lease: 200 }, // the first resources are owned after this time and the tolerance
      clockTolerance: 20,
    });
    const imports = [GatekeeperModule.forRoot({ store: memory() })];
    const builder = Test.createTestingModule({ imports, providers: [DeliveryService] });
    module = await builder.overrideProvider(GatekeeperService).useValue(gatekeeper).compile();
    await module.init();
  });
  afterEach(() => module.close());

  it('leads, owns all queues, and delivers', async () => {
    await module.get(ClusterService).whenLeader();
    const service = module.get(DeliveryService);
    expect(await service.poll()).toBe('polled by the leader of default');
    const { owned$ } = module.get(AllocationService).group('queues');
    await firstValueFrom(owned$.pipe(filter(({ length }) => length === 2)));
    expect(await service.deliverFrom('cairo')).toBe(true);
  });
});
