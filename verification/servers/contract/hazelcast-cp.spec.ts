import { randomUUID } from 'node:crypto';
import { Gatekeeper, type GatekeeperEvent, parseGatekeeperOptions } from 'nestjs-gatekeeper';
import { CpMissingError, hazelcast } from '../../../lib/stores/hazelcast/index.js';
import { StoreUnavailableError, UnknownOutcomeError } from '../../../lib/core/store/store.errors.js';
import type { Driver } from '../../../lib/core/store/driver.js';
import { type HazelcastCluster, type HazelcastOptions, startHazelcast } from '../../../lib/testing/index.js';
import { CP_CLUSTER } from './cp-cluster.js';
import { closing } from '../../../test/contract/closing.js';
import { eventually } from '../../../test/contract/eventually.js';
import { newClient } from './hazelcast-clients.js';
import { describeOnHazelcast } from '../../needs/members.js';
import { allTexts } from '../../../lib/core/store/paging.js';

const QUIET = { log() {}, warn() {}, error() {}, debug() {} };
const CALL_TIMEOUT = 2000;

const cpStore = ({ clusterName, addresses: members }: HazelcastCluster) =>
  hazelcast({ clusterName, members, cp: true });

const gatekeeperOver = (cluster: HazelcastCluster) =>
  new Gatekeeper(
    parseGatekeeperOptions({ store: cpStore(cluster), definitionsDelay: 0, callTimeout: CALL_TIMEOUT }),
    QUIET,
  );

const WITHOUT_CP: [string, string, HazelcastOptions][] = [
  ['open-source members from 5.5 on', 'Enterprise feature', {}],
  ['members whose cp-member-count is 0', 'unsafe mode', { version: CP_CLUSTER.version! }],
];

describeOnHazelcast.each(WITHOUT_CP)('cp: true with %s', (_which, found, options) => {
  let cluster: HazelcastCluster;
  const gatekeepers: Gatekeeper[] = [];

  const create = () => {
    const gatekeeper = gatekeeperOver(cluster);
    gatekeepers.push(gatekeeper);
    return gatekeeper;
  };

  beforeAll(async () => {
    cluster = await startHazelcast(options);
  });
  afterEach(async () => {
    await Promise.all(gatekeepers.splice(0).map((gatekeeper) => gatekeeper.close()));
  });
  afterAll(() => cluster?.stop());

  it('does not start when they are there, and says what to do', async () => {
    const error = await create()
      .start()
      .catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(CpMissingError);
    expect((error as Error).message).toContain(found);
    expect((error as Error).message).toContain('set cp-subsystem.cp-member-count to 3 or more');
  });

  it('starts when they are absent; when they come, each call is refused and the reason is reported', async () => {
    await cluster.members[0]!.kill();
    const gatekeeper = create();
    const events: GatekeeperEvent[] = [];
    gatekeeper.events$.subscribe((event) => events.push(event));
    await gatekeeper.start();
    await cluster.members[0]!.start();
    await eventually('the call is refused for want of CP', async () => {
      const error = await gatekeeper.tryAcquire('job', { duration: '10s' }).catch((caught: unknown) => caught);
      return error instanceof CpMissingError;
    });
    await eventually('the event', () =>
      events.some((event) => event.type === 'store-lost' || (event.type === 'problem' && isCpMissing(event.error))),
    );
  });

  const isCpMissing = (error: unknown) => error instanceof CpMissingError;
});

describeOnHazelcast('cp: true', () => {
  let cluster: HazelcastCluster;
  const opened: Driver[] = [];

  const open = async () => {
    const store = cpStore(cluster).open({ callTimeout: CALL_TIMEOUT });
    opened.push(store);
    await eventually('the store is connected to all', () => store.health().members === 3);
    return store;
  };

  beforeAll(async () => {
    cluster = await startHazelcast(CP_CLUSTER);
  });
  afterAll(async () => {
    await Promise.all(opened.map((store) => store.close()));
    await cluster?.stop();
  });

  it('puts a key back that the map of keys lost', async () => {
    const [store, other, key] = [await open(), await open(), `${randomUUID()}@a `];
    await store.records.compareAndSet(key, undefined, 'text');
    const client = await newClient(cluster);
    const keys = await client.getMap('gatekeeper.records.keys');
    expect(await keys.containsKey(key)).toBe(true);
    await keys.clear();
    expect(await allTexts(other.records, key)).toEqual(new Map());
    expect(await allTexts(store.records, key)).toEqual(new Map([[key, 'text']]));
    expect(await allTexts(other.records, key)).toEqual(new Map([[key, 'text']]));
    await client.shutdown();
  });

  it('has tasks beside it, although members of 5.4 want queries in a form of their own', async () => {
    const { tasks } = await open();
    const texts = Array.from({ length: 500 }, (_, index) => `waiting ${String(index).padStart(3, '0')}`);
    await Promise.all(texts.map((text) => tasks.compareAndSet(randomUUID(), undefined, text)));
    // At the same time, before it is known which form is the right one.
    const found = await Promise.all([10, 1000].map((limit) => tasks.range('waiting ', 'waiting ~', limit)));
    const some = await tasks.range('waiting 100', 'waiting 300', 50);
    expect([...found, some].map((rows) => rows.map(({ text }) => text))).toEqual([
      texts.slice(0, 10),
      texts,
      texts.slice(100, 150),
    ]);
  });

  it('loses no acknowledged write when a member is killed, and acknowledges none without a majority', async () => {
    const [store, key] = [await open(), randomUUID()];
    await store.records.compareAndSet(key, undefined, '0');
    const counter = new Counter(store, key);
    const counting = counter.run();
    await eventually('it counts', () => counter.acknowledged > 50);
    await cluster.members[0]!.kill();
    const before = counter.acknowledged;
    await eventually('it counts again', () => counter.acknowledged > before + 50, 40_000);
    counter.end();
    await counting;
    const text = Number(await store.records.read(key));
    expect(text).toBeGreaterThanOrEqual(counter.acknowledged);
    expect(text).toBeLessThanOrEqual(counter.acknowledged + counter.unknown);

    await using gatekeeper = closing(gatekeeperOver(cluster));
    await gatekeeper.start();
    await eventually('a permit is had', () =>
      gatekeeper.tryAcquire('job', { duration: '10s' }).then((permit) => permit !== undefined),
    );
    await cluster.members[1]!.kill();
    const began = performance.now();
    const error = await gatekeeper.tryAcquire('job', { holder: 'another' }).catch((caught: unknown) => caught);
    expect(performance.now() - began).toBeLessThan(CALL_TIMEOUT + 1000);
    expect([StoreUnavailableError, UnknownOutcomeError].some((type) => error instanceof type)).toBe(true);
  });
});

/** Counts a record up, one compare-and-set after another. */
class Counter {
  /** Writes that were answered by true. */
  acknowledged = 0;
  /** Writes with an unknown outcome. */
  unknown = 0;
  #isRunning = true;

  constructor(
    readonly store: Driver,
    readonly key: string,
  ) {}

  end(): void {
    this.#isRunning = false;
  }

  async run(): Promise<void> {
    while (this.#isRunning) await this.#countUp();
  }

  async #countUp(): Promise<void> {
    const text = await eventually('it is read', () => this.store.records.read(this.key));
    const next = String(Number(text) + 1);
    try {
      if (await this.store.records.compareAndSet(this.key, text, next)) this.acknowledged += 1;
      // The members repeat a call by themselves when a leader is lost. The repeated one may find the text of the first.
      else if ((await eventually('it is read', () => this.store.records.read(this.key))) === next) this.unknown += 1;
    } catch (error) {
      if (!(error instanceof StoreUnavailableError)) this.unknown += 1;
    }
  }
}
