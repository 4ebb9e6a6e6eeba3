/** As if the package were not installed: whatever imports it fails. */
jest.unstable_mockModule('@opentelemetry/api', () => {
  throw new Error("Cannot find package '@opentelemetry/api'");
});

it('works without @opentelemetry/api, which only its own entry point needs', async () => {
  const { Gatekeeper, memory, parseGatekeeperOptions } = await import('nestjs-gatekeeper');
  const log = () => undefined;
  const options = parseGatekeeperOptions({ store: memory(), heartbeat: 0 });
  const gatekeeper = new Gatekeeper(options, { log, warn: log, error: log, debug: log });
  await gatekeeper.start();
  const run = await gatekeeper.run('job', ({ token }) => token > 0, { duration: '5s' });
  await gatekeeper.close();
  expect(run).toEqual({ executed: true, value: true });
  await expect(import('nestjs-gatekeeper/opentelemetry')).rejects.toThrow("Cannot find package '@opentelemetry/api'");
});
