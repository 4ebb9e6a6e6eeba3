import { getEventListeners } from 'node:events';
import type { RedisClient } from '../../../lib/stores/redis/clients/redis-client.js';
import { Connection } from '../../../lib/stores/redis/connection.js';
import { Writer } from '../../../lib/stores/redis/writer.js';
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
  const connection = new Connection({
    place: 'the server',
    newClient: async () => client as unknown as RedisClient,
    open: async (opened, ended) => ({ client: opened, ended, writer: new Writer(opened, 0) }),
    opened: () => undefined,
    suspected: () => undefined,
  });
  for (let lost = 0; lost < 3; lost++) {
    await eventually('a session', () => connection.session !== undefined);
    connection.suspect(connection.session!, 'lost');
  }
  await eventually('the next session', () => connection.session !== undefined);
  const counts = [...signals].map((signal) => getEventListeners(signal, 'abort').length);
  await connection.close(async () => undefined);
  expect(Math.max(...counts)).toBe(1);
});
