import { Controller, Get, Injectable } from '@nestjs/common';
import { HealthCheck, HealthCheckService, TerminusModule } from '@nestjs/terminus';
import { GatekeeperHealthIndicator, StoreUnavailableError, memory } from 'nestjs-gatekeeper';
import { partsOf } from '../../lib/gatekeeper/parts.js';
import { eventually } from '../contract/eventually.js';
import { useApps } from '../support/apps.js';
import { scripted } from '../support/scripted-store.js';

const { boot } = useApps();

@Injectable()
class Readiness {
  constructor(
    readonly checks: HealthCheckService,
    readonly gatekeeper: GatekeeperHealthIndicator,
  ) {}
}

@Controller('health')
class HealthController {
  constructor(
    private readonly checks: HealthCheckService,
    private readonly gatekeeper: GatekeeperHealthIndicator,
  ) {}

  @Get()
  @HealthCheck()
  check() {
    return this.checks.check([() => this.gatekeeper.isHealthy()]);
  }
}

async function start() {
  const { store, definition } = scripted(memory());
  const metadata = { imports: [TerminusModule], providers: [Readiness], controllers: [HealthController] };
  const app = await boot(metadata, { callTimeout: '200ms', heartbeat: 0 }, definition);
  await app.app.listen(0, '127.0.0.1');
  const { clusterClock } = partsOf(app.gatekeeper).context;
  // Right after the start, no round of readings has come back complete: on a busy machine a reading may take too long to count.
  await eventually('the clocks are known', async () => {
    await clusterClock.sample();
    return clusterClock.report().suspect === undefined;
  });
  return { ...app, store, readiness: app.get(Readiness), url: await app.app.getUrl() };
}

const answerOf = async (url: string) => {
  const response = await fetch(`${url}/health`);
  return { code: response.status, body: await response.json() };
};

it('is up in a health check of terminus', async () => {
  const { readiness, url } = await start();
  const up = { gatekeeper: { status: 'up', health: 'healthy' } };
  const result = await readiness.checks.check([() => readiness.gatekeeper.isHealthy()]);
  expect(result).toEqual({ status: 'ok', info: up, error: {}, details: up });
  expect(await answerOf(url)).toMatchObject({ code: 200, body: { status: 'ok', details: up } });
});

it('is down, with the fault in a sentence, if the store does not answer', async () => {
  const { url, store, gatekeeper } = await start();
  store.script = () => Promise.reject(new StoreUnavailableError('cut off'));
  const fault = { code: 'store-failing', sentence: expect.stringContaining('cut off') };
  const down = { gatekeeper: { status: 'down', health: 'down', faults: [fault] } };
  // An answer of less than a second ago would count as proof that the store is reachable.
  await expect(gatekeeper.tryAcquire('job', { duration: '5s' })).rejects.toThrow('cut off');
  expect(await answerOf(url)).toMatchObject({ code: 503, body: { status: 'error', error: down } });
});

it('is up with a job that did not run, which it lists, also where a fault would make it down', async () => {
  const warning = { code: 'not-run', semaphore: 'nightly', since: 1, sentence: 'Jobs.nightly was due' } as const;
  const { gatekeeper } = await start();
  const warned = { ...gatekeeper.health(), status: 'healthy' as const, faults: [], warnings: [warning] };
  const indicator = new GatekeeperHealthIndicator({ checkHealth: async () => warned } as never);
  const { since: _since, ...shown } = warning;
  const up = { gatekeeper: { status: 'up', health: 'healthy', warnings: [shown] } };
  expect(await indicator.isHealthy('gatekeeper', { whileDegraded: 'down' })).toEqual(up);
});

it('is up while degraded, and tells why; or down, if the application wants it', async () => {
  const { readiness, gatekeeper } = await start();
  partsOf(gatekeeper).context.clusterClock.suspect('a member jumped');
  const degraded = { health: 'degraded', faults: [{ code: 'clock-suspect', sentence: expect.any(String) }] };
  expect(await readiness.gatekeeper.isHealthy()).toEqual({ gatekeeper: { status: 'up', ...degraded } });
  const strict = await readiness.gatekeeper.isHealthy('permits', { whileDegraded: 'down' });
  expect(strict).toEqual({ permits: { status: 'down', ...degraded } });
});
