import { strict as assert } from 'node:assert';
import { GatekeeperError } from '../../core/decision/gatekeeper.error.js';
import { StoreUnavailableError } from '../../core/store/store.errors.js';
import type { RecordChange, RecordStore } from '../../core/store/store.js';
import { assertEnds, assertRejects, present } from './assertions.js';
import { eventually } from './eventually.js';
import { FLOWS, writeUntil } from './flows.js';
import { type NewRecord, assertTrue, attempt } from './new-record.js';
import type { Outage, StoreClients, StoreLacks } from './store-under-test.js';
import type { ContractTests } from './test-runner.js';

/** Timeout of calls, in ms: several tests wait for it. */
const HASTY = 1000;
/** ms by which a busy machine may be late. */
const LATE = 5000;

const READS: Readonly<Record<string, (store: RecordStore) => Promise<unknown>>> = {
  read: (store) => store.read('key'),
  list: (store) => store.list('contract:'),
  page: (store) => present(store.page, 'page').call(store, 'contract:'),
  readMany: (store) => present(store.readMany, 'readMany').call(store, ['contract:key']),
  now: (store) => store.now(),
  'the reading of a journal': (store) => store.journal('outage').read(1),
};

/**
 * Contract of the three errors. After a StoreUnavailableError no node looks for the write: if it was applied, a permit stays
 * taken without a holder, and an edit that was reported as failed takes effect.
 */
export function describeOutageContract(tests: ContractTests, clients: StoreClients, lacks: StoreLacks): void {
  const isThere = () => clients.underTest.outage !== undefined;
  tests.describe('an outage', () => {
    tests.unlessLacking('outage', lacks.outage, isThere, () => {
      const scene = new OutageScene(clients);
      tests.runner.before(scene.start);
      describeErrors(tests, scene, lacks);
      describeWrites(tests, scene);
      describeSilence(tests, scene, lacks);
      describeReturn(tests, scene, lacks);
    });
  });
}

function describeErrors({ it }: ContractTests, scene: OutageScene, lacks: StoreLacks): void {
  for (const [name, read] of Object.entries(READS)) {
    if (name in lacks) continue; // the listing prints its absence
    it(`makes ${name} fail with a StoreUnavailableError`, () =>
      scene.during(() => assertRejects(read(scene.one), StoreUnavailableError)));
  }

  it('is seen in the health, with the problem', () =>
    scene.during(async () => {
      await eventually('the outage is noticed', async () => {
        // It fails, and only then some stores notice the outage. Another test looks at the error.
        await scene.one.read('key').catch(() => undefined);
        return !scene.one.health().connected;
      });
      const { members, problem } = scene.one.health();
      assert.equal(members, 0);
      assert.ok(problem, 'health() has no problem');
    }));
}

function describeWrites({ it }: ContractTests, scene: OutageScene): void {
  it('makes a later write fail, and its error is right about what became of it', async () => {
    const write = await scene.during(() => attempt(scene.one, scene.newKey()));
    assert.ok(write.outcome instanceof GatekeeperError, `The write ended with ${String(write.outcome)}`);
    await assertTrue(write, scene.one);
  });

  it('breaks off many writes, and each error is right about what became of its write', async () => {
    const writes = await scene.breakOff();
    assert.ok(writes.filter(({ outcome }) => outcome !== true).length >= FLOWS, 'No write met the outage');
    for (const write of writes) await assertTrue(write, scene.other);
  });
}

/** A frozen server breaks no connection, so only the timeout of a call ends it. */
function describeSilence({ it }: ContractTests, scene: OutageScene, lacks: StoreLacks): void {
  const ends = <T>(call: Promise<T>, what: string) => assertEnds(call, HASTY + LATE, `${what} ends at a silent server`);
  let isSaid = false;
  const unlessLoud = async (test: () => Promise<void>) => {
    if (scene.canBeSilent) return test();
    if (!isSaid) process.stderr.write('Not tested: a silent server. Give `outage.silence` in `prepare`\n');
    isSaid = true;
  };

  it('without an end of the connections makes each read fail in time', () =>
    unlessLoud(() =>
      scene.inSilence(async () => {
        const reads = Object.entries(READS).filter(([name]) => !(name in lacks));
        await Promise.all(
          reads.map(([name, read]) => ends(assertRejects(read(scene.one), StoreUnavailableError), name)),
        );
      }),
    ));

  it('without an end of the connections ends many writes in time, and each error is right about its write', () =>
    unlessLoud(async () => {
      const writes = await scene.breakOff((all) => scene.inSilence(() => ends(all, 'a write')));
      assert.ok(writes.filter(({ outcome }) => outcome !== true).length >= FLOWS, 'No write met the silence');
      for (const write of writes) await assertTrue(write, scene.other);
    }));
}

function describeReturn(tests: ContractTests, scene: OutageScene, lacks: StoreLacks): void {
  tests.it('leaves the texts as they were, and no problem in the health', async () => {
    const key = scene.newKey();
    await scene.one.compareAndSet(key, undefined, 'before');
    await scene.during(async () => undefined);
    assert.equal(await scene.one.read(key), 'before');
    assert.equal(await scene.one.compareAndSet(key, 'before', 'after'), true);
    await scene.one.now(); // a clock that failed remains a problem until it answers again
    assert.equal(scene.one.health().problem, undefined);
  });

  const key = scene.newKey();
  const changes: RecordChange[] = [];

  tests.it('lets a watch go on', async () => {
    await scene.one.watch(key, (change) => changes.push(change));
    await scene.during(() => assertRejects(scene.one.read(key), StoreUnavailableError));
    let text = 0;
    await eventually('a change of the key', async () => {
      await scene.other.compareAndSet(key, text === 0 ? undefined : String(text), String(++text));
      return changes.some((change) => change.key === key);
    });
  });

  tests.unlessLacking('changeWithoutKey', lacks.changeWithoutKey, undefined, () => {
    tests.it('made the watch tell that anything may have changed', async () => {
      await eventually('a change without a key', () => changes.some((change) => change.key === undefined));
    });
  });
}

/** Two clients with short timeouts, and what happens to them. */
class OutageScene {
  one!: RecordStore;
  other!: RecordStore;

  constructor(private readonly clients: StoreClients) {}

  /** For `before`. */
  readonly start = async (): Promise<void> => {
    this.one = await this.clients.open(HASTY);
    this.other = await this.clients.open(HASTY);
  };

  newKey(): string {
    return this.clients.newKey();
  }

  get canBeSilent(): boolean {
    return this.#outage.silence !== undefined;
  }

  /** Acts while the store is out of reach. Resolves when all clients are connected again. */
  during<T>(act: () => Promise<T>): Promise<T> {
    return this.#during(() => this.#outage.begin(), act);
  }

  /** The same while the connections stand, and nothing is answered. */
  inSilence<T>(act: () => Promise<T>): Promise<T> {
    return this.#during(() => present(this.#outage.silence, 'outage.silence').call(this.#outage), act);
  }

  async #during<T>(begin: () => Promise<void>, act: () => Promise<T>): Promise<T> {
    await begin();
    try {
      return await act();
    } finally {
      await this.#outage.end();
      await this.clients.returned([this.one, this.other]);
    }
  }

  /** Writes new keys in several flows over both clients, until each flow met the outage. */
  breakOff(stop = (all: Promise<unknown>): Promise<unknown> => this.during(() => all)): Promise<NewRecord[]> {
    const steps = [this.one, this.other].map((store) => () => attempt(store, this.newKey()));
    return writeUntil(steps, stop);
  }

  get #outage(): Outage {
    const { outage } = this.clients.underTest;
    assert.ok(outage, "Give `outage` in `prepare`, or declare lacks: { outage: 'the reason' }");
    return outage;
  }
}
