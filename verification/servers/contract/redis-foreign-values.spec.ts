import { DOUBT } from '../../../lib/core/decision/index.js';
import { StoreUnavailableError } from '../../../lib/core/store/index.js';
import { redis } from '../../../lib/stores/redis/index.js';
import { Keys } from '../../../lib/stores/redis/keys.js';
import { describeOnRedis } from '../../needs/redis.js';
import { CLIENTS } from '../../support/redis-clients.js';
import { useEnds } from '../../support/ends.js';
import { RedisServer } from '../../support/redis-server.js';
import { eventually } from '../../../test/contract/eventually.js';
import { UNHURRIED } from '../../../test/contract/unhurried.js';

const KEYS = new Keys('gatekeeper:');
const FOREIGN = 'semaphore:foreign';
/** In another bucket than the foreign one. */
const OTHER = Array.from({ length: 20 }, (_, index) => `semaphore:${index}`).find(
  (key) => KEYS.bucketOf(key) !== KEYS.bucketOf(FOREIGN),
)!;

describeOnRedis('a value of another program under a key of redis()', () => {
  const ends = useEnds();
  const newServer = async () => {
    const server = await RedisServer.start();
    ends.push(() => server[Symbol.asyncDispose]());
    return server;
  };
  const connected = async (options: Parameters<typeof redis>[0]) => {
    const store = redis(options).open(UNHURRIED);
    ends.push(() => store.close());
    await eventually('connected', () => store.health().connected);
    return store;
  };
  /** Writes of one turn share a call of the script. */
  const writeTogether = (store: Awaited<ReturnType<typeof connected>>, expected: string | undefined, next: string) =>
    Promise.allSettled([OTHER, FOREIGN].map((key) => store.records.compareAndSet(key, expected, next)));
  const written = { status: 'fulfilled', value: true };
  const refused = {
    status: 'rejected',
    reason: expect.objectContaining({
      constructor: StoreUnavailableError,
      message: expect.stringMatching(/WRONGTYPE.*choose another prefix/),
    }),
  };

  const kinds = Object.keys(CLIENTS).filter((kind) => !kind.includes('database'));
  it.each(kinds)('fails only the write of this record, not those that share its call (%s)', async (kind) => {
    const server = await newServer();
    const { client, close } = await CLIENTS[kind]!(server.url);
    ends.push(close);
    const store = await connected({ client });
    await server.command('LPUSH', KEYS.record(FOREIGN), 'theirs');
    expect(await writeTogether(store, undefined, 'text')).toEqual([written, refused]);
    expect(store.health().problem).toContain('WRONGTYPE');
    expect(await store.records.read(OTHER)).toBe('text');
  });

  it.each(['index', 'origin'] as const)('fails only the writes of its bucket (%s)', async (place) => {
    const server = await newServer();
    const store = await connected({ url: server.url });
    const key = KEYS[place](KEYS.bucketOf(FOREIGN));
    await server.command('DEL', key);
    await server.command('LPUSH', key, 'theirs');
    expect(await writeTogether(store, undefined, 'text')).toEqual([written, refused]);
    expect(await store.records.read(FOREIGN)).toBeUndefined();
    expect(await server.command('LRANGE', key, 0, -1)).toEqual(['theirs']);
  });

  it('hinders no mark of the other records when another server has taken over', async () => {
    const server = await newServer();
    const store = await connected({ url: server.url });
    expect(await writeTogether(store, undefined, 'one')).toEqual([written, written]);
    await server.command('DEL', KEYS.record(FOREIGN));
    await server.command('LPUSH', KEYS.record(FOREIGN), 'theirs');
    await server.command('DEBUG', 'CHANGE-REPL-ID');
    expect(await writeTogether(store, 'one', 'two')).toEqual([{ status: 'fulfilled', value: false }, refused]);
    expect(await store.records.read(OTHER)).toBe(`${DOUBT}one`);
    expect(await store.records.compareAndSet(OTHER, `${DOUBT}one`, 'two')).toBe(true);
  });
});
