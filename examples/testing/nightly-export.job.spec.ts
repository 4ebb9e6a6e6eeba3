import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import { PermitLostError, guardWith } from 'nestjs-gatekeeper';
import { TestGatekeeper } from 'nestjs-gatekeeper/testing';
import { NightlyExportJob } from './nightly-export.job.js';

describe('NightlyExportJob', () => {
  let gatekeeper: TestGatekeeper;
  let job: NightlyExportJob;
  beforeEach(() => {
    gatekeeper = new TestGatekeeper();
    job = guardWith(new NightlyExportJob(), gatekeeper);
  });

  it('writes all pages under a permit of its semaphore', async () => {
    expect(await job.export()).toBe(2);
    expect(job.written).toEqual(['page 1 with token 1', 'page 2 with token 1']);
    expect(gatekeeper.calls).toMatchObject([
      { semaphore: 'nightly-export', job: 'NightlyExportJob.export', duration: 600_000, outcome: 'granted' },
    ]);
  });

  it('writes nothing when another node has the permit', async () => {
    gatekeeper.deny('nightly-export', 'no-permit');
    expect(await job.export()).toBeUndefined();
    expect(job.written).toEqual([]);
  });

  it('stops when it loses the permit', async () => {
    jest.spyOn(job, 'write').mockImplementationOnce(async () => void gatekeeper.lose('nightly-export'));
    await expect(job.export()).rejects.toThrow(PermitLostError);
    expect(job.written).toEqual([]);
  });
});
