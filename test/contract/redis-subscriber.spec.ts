import { setImmediate as turn } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { IoredisAdapter } from '../../lib/stores/redis/clients/ioredis.js';
import { describeOnRedis } from '../needs/redis.js';
import { RedisServer } from '../support/redis-server.js';

describeOnRedis('subscriptions of a new connection for messages, by ioredis', () => {
  let server: RedisServer;
  beforeAll(async () => void (server = await RedisServer.start()));
  afterAll(() => server?.[Symbol.asyncDispose]());

  it('succeed at every moment while it connects', async () => {
    const client = new Redis(server.url);
    const subscriber = new IoredisAdapter(client, true).newSubscriber({
      onMessage: () => undefined,
      onReconnected: () => undefined,
    });
    try {
      const connecting = new AbortController();
      const subscriptions = [subscriber.subscribe('first').finally(() => connecting.abort())];
      for (let index = 0; !connecting.signal.aborted; index++) {
        await turn();
        subscriptions.push(subscriber.subscribe(`channel ${index}`));
      }
      const outcomes = await Promise.allSettled(subscriptions);
      expect(outcomes.filter(({ status }) => status === 'rejected')).toEqual([]);
      expect(outcomes.length).toBeGreaterThan(2);
    } finally {
      subscriber.close();
      client.disconnect();
    }
  });
});
