import { Gatekeeper, type GatekeeperEvent, memory, parseGatekeeperOptions } from 'nestjs-gatekeeper';

import { ROOT_KEY, SHARD_PREFIX, blankShard, encodeShardRoot, encodeShard } from '../../../lib/core/decision/index.js';

const SHORT = { duration: '10s' };
const QUICK = { definitionsDelay: 0, heartbeat: 0 };
const silent = { log() {}, warn() {}, error() {}, debug() {} };

describe('the store of a process that another one uses, too', () => {
  const gatekeepers: Gatekeeper[] = [];
  afterEach(() => Promise.all(gatekeepers.splice(0).map((gatekeeper) => gatekeeper.close())));

  /** @param isOwn false: as `remote()` shows the store to other processes */
  const start = async (store: ReturnType<typeof memory>, isOwn: boolean, job: string) => {
    const definitions = [{ name: job, ...SHORT }];
    const options = parseGatekeeperOptions({ store: { ...store, isOwn }, definitions, acquirer: job, ...QUICK });
    const gatekeeper = new Gatekeeper(options, silent);
    gatekeepers.push(gatekeeper);
    const events: GatekeeperEvent[] = [];
    gatekeeper.events$.subscribe((event) => events.push(event));
    await gatekeeper.start();
    return { gatekeeper, events };
  };

  it('gives the other process no shards to restore, for names that were used before and for new ones', async () => {
    const store = memory();
    const host = await start(store, true, 'of the host');
    expect(await host.gatekeeper.tryAcquire('of the host')).toMatchObject({ isHeld: true });
    expect(await host.gatekeeper.tryAcquire('order-1', SHORT)).toMatchObject({ isHeld: true });
    const other = await start(store, false, 'of the other');
    await other.gatekeeper.ready();
    expect(await other.gatekeeper.tryAcquire('order-1', SHORT)).toBeUndefined();
    for (let order = 2; order < 30; order++) {
      expect(await other.gatekeeper.tryAcquire(`order-${order}`, SHORT)).toMatchObject({ isHeld: true });
    }
    expect(await other.gatekeeper.tryAcquire('of the other')).toMatchObject({ isHeld: true });
    expect([...host.events, ...other.events].filter(({ type }) => type === 'restored')).toEqual([]);
  });

  it.each(['announced', 'creating'] as const)(
    'makes all shards anew if the other process has %s them',
    async (state) => {
      const store = memory();
      const { records } = store.open();
      await records.compareAndSet(ROOT_KEY, undefined, encodeShardRoot({ nonce: 'n', id: 'other', state }));
      for (let shard = 0; shard < (state === 'creating' ? 300 : 0); shard++) {
        const blank = encodeShard(blankShard('other', 0, `n${shard}`));
        await records.compareAndSet(SHARD_PREFIX + shard, undefined, blank);
      }
      const host = await start(store, true, 'of the host');
      expect(await host.gatekeeper.tryAcquire('of the host')).toMatchObject({ isHeld: true });
      const other = await start(store, false, 'of the other');
      await other.gatekeeper.ready();
      for (let order = 0; order < 30; order++) {
        expect(await other.gatekeeper.tryAcquire(`order-${order}`, SHORT)).toMatchObject({ isHeld: true });
      }
      expect([...host.events, ...other.events].filter(({ type }) => type === 'restored')).toEqual([]);
    },
  );
});
