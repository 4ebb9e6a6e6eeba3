import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Test, type TestingModule } from '@nestjs/testing';
import { NotOwnerError } from 'nestjs-gatekeeper';
import { GatekeeperTestingModule, TestGatekeeper } from 'nestjs-gatekeeper/testing';
import { DeliveryService } from './delivery.service.js';

describe('DeliveryService', () => {
  let module: TestingModule;
  let gatekeeper: TestGatekeeper;
  let service: DeliveryService;
  beforeEach(async () => {
    module = await Test.createTestingModule({
      imports: [GatekeeperTestingModule.forRoot()],
      providers: [DeliveryService],
    }).compile();
    await module.init(); // connects the methods with @AllocatedResources
    gatekeeper = module.get(TestGatekeeper);
    service = module.get(DeliveryService);
  });
  afterEach(() => module.close());

  it('delivers from the queues that it owns', async () => {
    await gatekeeper.own('queues', ['berlin', 'cairo']);
    expect(await service.deliverFrom('berlin')).toBe(true);
    expect(await service.deliverFrom('delhi')).toBe(false);
    expect(service.log).toEqual(['owns berlin, cairo', 'delivered from berlin with token 1']);
  });

  it('stops when it must give a queue back', async () => {
    await gatekeeper.own('queues', ['berlin']);
    let aborted: unknown;
    const delivering = service.deliverFrom('berlin', async (signal) => {
      void gatekeeper.own('queues', []);
      aborted = signal.reason;
    });
    await expect(delivering).rejects.toThrow(NotOwnerError);
    expect(aborted).toBeInstanceOf(NotOwnerError);
    expect(service.log).toEqual(['owns berlin', 'owns nothing']);
  });

  it('polls on the leader only', async () => {
    expect(await service.poll()).toBe('polled by the leader of default');
    gatekeeper.deny('leader:default');
    expect(await service.poll()).toBeUndefined();
  });
});
