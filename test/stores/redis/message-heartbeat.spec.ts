import { MessageHeartbeat } from '../../../lib/stores/redis/change-feed.js';

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

it('tests again soon, and not at the same time, if the connection was lost during a test', async () => {
  let began = 0;
  let end!: () => void;
  const heartbeat = new MessageHeartbeat(() => {
    began++;
    return new Promise((resolve) => (end = resolve));
  });
  await jest.advanceTimersByTimeAsync(10_000);
  heartbeat.hurry();
  await jest.advanceTimersByTimeAsync(5000);
  expect(began).toBe(1);
  end();
  await jest.advanceTimersByTimeAsync(1000);
  expect(began).toBe(2);
  heartbeat.stop();
});
