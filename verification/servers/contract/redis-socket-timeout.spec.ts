import { Redis } from 'ioredis';
import { redis } from '../../../lib/stores/redis/index.js';
import { describeOnRedis } from '../../needs/redis.js';
import { useEnds } from '../../support/ends.js';
import { RedisServer } from '../../support/redis-server.js';
import { SwitchableProxy } from '../../../test/support/switchable-proxy.js';
import { eventually } from '../../../test/contract/eventually.js';

const SOCKET_TIMEOUT = 1000;

describeOnRedis('the limit of ioredis for silent servers', () => {
  const ends = useEnds();
  const prepare = async () => {
    const server = await RedisServer.start();
    const proxy = await SwitchableProxy.start(server.port);
    const client = new Redis(proxy.port, { socketTimeout: SOCKET_TIMEOUT, maxRetriesPerRequest: 0 });
    client.on('error', () => undefined);
    const store = redis({ client }).open({ callTimeout: 500 });
    ends.push(
      () => server[Symbol.asyncDispose](),
      () => proxy[Symbol.asyncDispose](),
      () => client.disconnect(),
      () => store.close(),
    );
    await eventually('connected', () => store.health().connected);
    const closed = { times: 0 };
    client.on('close', () => closed.times++);
    return { proxy, store, closed };
  };

  it('ends a silent connection', async () => {
    const { proxy, store, closed } = await prepare();
    proxy.loseAnswers();
    await expect(store.records.read('key')).rejects.toThrow('did not answer');
    await eventually('closed', () => closed.times > 0);
  });

  it('does not end the connection after one that broke before an answer', async () => {
    const { proxy, store, closed } = await prepare();
    proxy.loseAnswers();
    const begun = performance.now();
    const unanswered = store.records.read('key').catch(() => undefined);
    proxy.cut();
    await unanswered;
    await eventually('connected again', () => store.health().connected);
    await eventually('the limit of the former one has passed', async () => {
      await store.records.read('key');
      return performance.now() - begun > SOCKET_TIMEOUT + 300;
    });
    expect(closed.times).toBe(1);
  });
});
