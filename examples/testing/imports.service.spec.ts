import { beforeEach, describe, expect, it } from '@jest/globals';
import { ConflictException } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { StoreUnavailableError } from 'nestjs-gatekeeper';
import { GatekeeperTestingModule, TestGatekeeper } from 'nestjs-gatekeeper/testing';
import { ImportsService } from './imports.service.js';

describe('ImportsService', () => {
  let gatekeeper: TestGatekeeper;
  let service: ImportsService;
  beforeEach(async () => {
    const module = await Test.createTestingModule({
      imports: [GatekeeperTestingModule.forRoot()],
      providers: [ImportsService],
    }).compile();
    gatekeeper = module.get(TestGatekeeper);
    service = module.get(ImportsService);
  });

  it('imports under a permit for the tenant', async () => {
    expect(await service.import('acme')).toBe('imported acme');
    expect(gatekeeper.calls).toEqual([
      {
        method: 'tryAcquire',
        semaphore: 'import-acme',
        duration: 300_000,
        options: { duration: '5m' },
        outcome: 'granted',
      },
    ]);
  });

  it('answers 409 while the tenant is imported elsewhere', async () => {
    gatekeeper.deny('import-acme');
    await expect(service.import('acme')).rejects.toThrow(ConflictException);
    expect(await service.import('other')).toBe('imported other');
  });

  it('passes on that the store is out of reach, and skips the index', async () => {
    gatekeeper.denyAll('unavailable');
    await expect(service.import('acme')).rejects.toThrow(StoreUnavailableError);
    expect(await service.reindex()).toBe(false);
    expect(gatekeeper.callsOf('reindex')).toMatchObject([{ options: { atLeastFor: 0 }, outcome: 'unavailable' }]);
  });
});
