import { openTelemetry } from 'nestjs-gatekeeper/opentelemetry';
import { MetricsController } from '../../../sample-app/src/metrics.controller.js';
import { Metrics } from '../../../sample-app/src/metrics.js';
import { useApps } from '../../../test/support/apps.js';

const { boot } = useApps();

it('the sample answers a scrape of Prometheus', async () => {
  const metrics = new Metrics();
  const { app, gatekeeper } = await boot(
    { controllers: [MetricsController], providers: [{ provide: Metrics, useValue: metrics }] },
    { telemetry: openTelemetry(metrics) },
  );
  await app.listen(0, '127.0.0.1');
  await gatekeeper.run('report', () => 'done', { duration: '5s' });
  const response = await fetch(`${await app.getUrl()}/metrics`);
  expect(response.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
  const text = await response.text();
  expect(text).toMatch(/^gatekeeper_health_grants\{.*\} 1$/m);
  expect(text).toMatch(/^gatekeeper_run_duration_count\{.*\} 1$/m);
});
