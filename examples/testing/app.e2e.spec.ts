import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { INestApplication } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { type GatekeeperEvent, GatekeeperService, memory } from 'nestjs-gatekeeper';
import { AppModule } from './app.module.js';
import { NightlyExportJob } from './nightly-export.job.js';

describe('the application over memory()', () => {
  let app: INestApplication;
  let otherNode: GatekeeperService;
  let skipped: GatekeeperEvent[];

  beforeEach(async () => {
    const store = memory(); // one cluster: each gatekeeper over it is a node
    const gatekeeper = new GatekeeperService({ store, acquirer: 'this node' });
    skipped = [];
    gatekeeper.events$.subscribe((event) => event.type === 'run-skipped' && skipped.push(event));
    const builder = Test.createTestingModule({ imports: [AppModule] });
    const module = await builder.overrideProvider(GatekeeperService).useValue(gatekeeper).compile();
    app = module.createNestApplication();
    await app.init();
    otherNode = new GatekeeperService({ store, acquirer: 'other node' });
  });

  afterEach(async () => {
    await app.close();
    await otherNode.close();
  });

  it('exports right after the start, and keeps the permit', async () => {
    expect(await app.get(NightlyExportJob).export()).toBe(2);
    expect(await otherNode.run('nightly-export', () => 'ran')).toEqual({ executed: false, reason: 'no-permit' });
  });

  it('skips while another node exports, and says which', async () => {
    await using permit = await otherNode.acquire('nightly-export', { duration: '10m' });
    expect(permit.isHeld).toBe(true);
    expect(await app.get(NightlyExportJob).export()).toBeUndefined();
    expect(skipped).toMatchObject([{ job: 'NightlyExportJob.export', reason: 'no-permit' }]);
    const { sentence } = await app.get(GatekeeperService).explain('nightly-export');
    expect(sentence).toMatch(/^the only permit is held: other node/);
  });
});
