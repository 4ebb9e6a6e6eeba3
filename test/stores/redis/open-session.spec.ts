import type { ChangeFeed } from '../../../lib/stores/redis/change-feed.js';
import type { RedisClient } from '../../../lib/stores/redis/clients/redis-client.js';
import { openSession } from '../../../lib/stores/redis/open-session.js';
import type { ResolvedOptions } from '../../../lib/stores/redis/redis.options.js';

const FACTS = ['1790000000', '0', 'run', '7.0.0', 'master', '0', 'noeviction', 'abc'];

describe('A session of Redis that ends while it opens', () => {
  it('makes no connection that nothing would close', async () => {
    const ending = new AbortController();
    let made = 0;
    const client = {
      isCluster: false,
      keyPrefix: '',
      primaries: () => [{ command: async () => FACTS }],
      command: async () => 'db=0',
      newConnection: () => void made++,
    };
    const lost = new Error('the connection was lost');
    const feed = { loadKey: async () => undefined, attach: async () => ending.abort(lost) };
    const opening = openSession(client as unknown as RedisClient, {
      options: { prefix: 'gatekeeper:', replicas: 1 } as ResolvedOptions,
      feed: feed as unknown as ChangeFeed,
      origins: undefined,
      ended: ending.signal,
      within: (call) => call(),
    });
    await expect(opening).rejects.toBe(lost);
    expect(made).toBe(0);
  });
});
