import type { INestApplication } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { GatekeeperService } from 'nestjs-gatekeeper';
import { postgres } from 'nestjs-gatekeeper/postgres';
import { startHazelcast } from 'nestjs-gatekeeper/testing';
import { AppModule } from '../src/app.module.js';
import { Jobs } from '../src/jobs.js';
import { createAdapter } from '../src/platform.js';

describe('the application (e2e)', () => {
  let app: INestApplication;
  let url: string;

  beforeAll(async () => {
    const fixture = await Test.createTestingModule({ imports: [AppModule] }).compile();
    app = fixture.createNestApplication(createAdapter());
    await app.listen(0, '127.0.0.1');
    url = `http://127.0.0.1:${app.getHttpServer().address().port}`;
  });

  afterAll(() => app.close());

  async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
    const deadline = Date.now() + 10_000;
    while (!(await condition())) {
      if (Date.now() > deadline) throw new Error(`not within 10 s: ${condition}`);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }

  it('runs a guarded method under a permit', async () => {
    expect(await app.get(Jobs).nightlyExport()).toBeGreaterThan(0);
  });

  it('runs a guarded interval', () => until(() => app.get(Jobs).ticks > 0));

  it('knows when the scheduler runs the cron next', () => {
    const { registry } = app.get(GatekeeperService);
    const job = registry.jobs().find((each) => each.job === 'Jobs.nightlyExport');
    expect(job?.schedule?.next).toBeGreaterThan(Date.now());
  });

  it('injects the service into its own controller', async () => {
    await until(async () => (await (await fetch(`${url}/semaphores`)).json()).includes('nightly-export'));
  });

  it('serves the API of the console', async () => {
    const session = (token: string) =>
      fetch(`${url}/gatekeeper/api/session`, { headers: { authorization: `Bearer ${token}` } });
    expect((await session('token-of-ann-0123456789')).status).toBe(200);
    expect((await session('token-of-bob-0123456789')).status).toBe(401);
  });

  it('answers a health check of @nestjs/terminus', async () => {
    const answer = await fetch(`${url}/health/ready`);
    expect(answer.status).toBe(200);
    expect((await answer.json()).details.gatekeeper.status).toBe('up');
  });

  it('serves the page of the console', async () => {
    const page = await fetch(`${url}/gatekeeper/`);
    expect(page.status).toBe(200);
    expect(await page.text()).toContain('<title>');
  });

  it('answers a body that the server refuses in the words of the console', async () => {
    const headers = { authorization: 'Bearer token-of-ann-0123456789', 'content-type': 'application/json' };
    const answer = await fetch(`${url}/gatekeeper/api/pause`, { method: 'POST', headers, body: '{' });
    expect(answer.headers.get('content-type')).toContain('application/problem+json');
  });

  it('imports the other entries of the package', () => {
    expect([typeof postgres, typeof startHazelcast]).toEqual(['function', 'function']);
  });
});
