import { getEventListeners } from 'node:events';
import type { RedisClient } from '../../../lib/stores/redis/clients/redis-client.js';
import { Connection } from '../../../lib/stores/redis/connection.js';
import { eventually } from '../../contract/eventually.js';

afterEach(() => void jest.restoreAllMocks());

it('a lost session leaves no listener', async () => {
  const signals = new Set<AbortSignal>();
  const add = AbortSignal.prototype.addEventListener;
  jest.spyOn(AbortSignal.prototype, 'addEventListener').mockImplementation(function (this: AbortSignal, ...args) {
    signals.add(this);
    add.apply(this, args as Parameters<typeof add>);
  });
  const client = { isReady: true, onChange: () => () => undefined, release: () => undefined };
  const open = async (_client: RedisClient, ended: AbortSignal) => ({ client: _client, ended });
  const connection = new Connection(
    async () => client as unknown as RedisClient,
    open,
    () => undefined,
  );
  for (let lost = 0; lost < 3; lost++) {
    await eventually('a session', () => connection.session !== undefined);
    connection.suspect('lost');
  }
  await eventually('the next session', () => connection.session !== undefined);
  const counts = [...signals].map((signal) => getEventListeners(signal, 'abort').length);
  connection.close();
  expect(Math.max(...counts)).toBe(1);
});
