import { GatekeeperService, TasksService, single } from 'nestjs-gatekeeper';
import { until, useApps } from '../support/apps.js';

const { boot } = useApps();

it('the causes of an error stand in the dead letter, in the history and in the log', async () => {
  const app = await boot({});
  const tasks = app.get(TasksService);
  const gatekeeper = app.get(GatekeeperService);
  const fail = () => {
    throw new TypeError('fetch failed', { cause: new Error('connect ECONNREFUSED 127.0.0.1:9') });
  };
  const reason = 'fetch failed: connect ECONNREFUSED 127.0.0.1:9';
  tasks.handle('mail', fail);
  await tasks.submit(single('mail', 'a'), undefined, { maxAttempts: 1 });
  await expect(gatekeeper.run('job', fail, { duration: '10s', atLeastFor: 0 })).rejects.toThrow('fetch failed');
  await until(async () => (await tasks.find('mail:a'))?.state === 'failed');
  const { lastError } = (await tasks.find('mail:a'))!;
  expect(lastError!.message).toBe(reason);
  expect(lastError!.stack).toContain('Caused by: Error: connect ECONNREFUSED 127.0.0.1:9\n');
  await until(async () =>
    (await gatekeeper.history(10)).some((entry) => 'message' in entry && entry.message === reason),
  );
  expect(app.log.filter((line) => line.includes(reason))).toHaveLength(2);
});
