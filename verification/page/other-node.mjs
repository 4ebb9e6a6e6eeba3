/**
 * A node in a process of its own, for tests that freeze or kill it. `PAGE_NODE` is JSON: with `console` (its options) it serves
 * the page over its own memory store; with `remote` (options of `remote()`) it takes part in another one's cluster, and runs
 * a job that does not end, under `semaphore`.
 */
import { NestFactory } from '@nestjs/core';
import { GatekeeperModule, GatekeeperService, memory, remote } from 'nestjs-gatekeeper';

const settings = JSON.parse(process.env.PAGE_NODE);
const say = (event, fields = {}) =>
  process.stdout.write(`${JSON.stringify({ event, at: Number(process.hrtime.bigint()) / 1e6, ...fields })}\n`);

const gatekeeper = {
  store: settings.remote ? remote(settings.remote) : memory(),
  definitions: [{ name: 'nightly', duration: '1m' }],
  definitionsDelay: 0,
  ...settings.gatekeeper,
};
const root = {
  module: class Root {},
  imports: [GatekeeperModule.forRoot(settings.console ? { ...gatekeeper, console: settings.console } : gatekeeper)],
};
const app = await NestFactory.create(root, { logger: false });
await app.listen(0, '127.0.0.1');
say('ready', { port: app.getHttpServer().address().port });

if (settings.remote) {
  const service = app.get(GatekeeperService);
  await service.ready();
  void service.run(settings.semaphore ?? 'nightly', () => new Promise(() => say('running')), {
    job: 'Jobs.export',
    keepAlive: true,
  });
}
