import { strict as assert } from 'node:assert';
import { randomUUID } from 'node:crypto';
import { GatekeeperError } from '../../core/decision/gatekeeper.error.js';
import { StoreUnavailableError } from '../../core/store/store.errors.js';
import type { RecordChange, Driver } from '../../core/store/driver.js';
import { assertEnds, assertRejects } from './assertions.js';
import { eventually } from './eventually.js';
import type { StoreClients } from './store-clients.js';
import type { Outage, StoreLacks } from './store-under-test.js';
import type { ContractTests } from './test-runner.js';
import { type Change, FLOWS, assertTrue, changeUntil, changesOf, latest, next } from './text-changes.js';
import { COLLECTIONS } from './texts.contract.js';

/** Timeout of calls, in ms: several tests wait for it. */
const HASTY = 1000;
/** ms by which a busy machine may be late. */
const LATE = 5000;

/** Longer than any test may take, in ms. */
const FOR_EVER = 60_000;

/** Calls by their names in tests. */
export type NamedCalls = Readonly<Record<string, (store: Driver) => Promise<unknown>>>;

/** All calls that read. */
export const READS: NamedCalls = {
  ...Object.fromEntries(
    COLLECTIONS.flatMap((name) => [
      [`read of ${name}`, (store: Driver) => store[name].read('key')],
      [`readMany of ${name}`, (store: Driver) => store[name].readMany(['key'])],
    ]),
  ),
  page: (store) => store.records.page('contract:'),
  range: (store) => store.tasks.range('', 'z', 1),
  now: (store) => store.now(),
  'the reading of a journal': (store) => store.journal('outage').read(1),
  peek: (store) => store.queue('outage').peek(),
  size: (store) => store.queue('outage').size(),
};

/**
 * Contract of the three errors. After a StoreUnavailableError no node looks for the write: if it was applied, a permit stays
 * taken without a holder, an edit that was reported as failed takes effect, and a task that is submitted again runs twice.
 */
export function describeOutageContract(tests: ContractTests, clients: StoreClients, lacks: StoreLacks): void {
  const isThere = () => clients.underTest.outage !== undefined;
  tests.describe('an outage', () => {
    tests.unlessLacking('outage', lacks.outage, isThere, () => {
      const scene = new OutageScene(clients);
      tests.runner.before(scene.start);
      describeErrors(tests, scene);
      describeWrites(tests, scene);
      describePolls(tests, scene);
      describeSilence(tests, scene);
      describeReturn(tests, scene, lacks);
    });
  });
}

function describeErrors({ it }: ContractTests, scene: OutageScene): void {
  for (const [name, read] of Object.entries(READS)) {
    it(`makes ${name} fail with a StoreUnavailableError`, () =>
      scene.during(() => assertRejects(read(scene.one), StoreUnavailableError)));
  }

  it('is seen in the health, with the problem', () =>
    scene.during(async () => {
      await eventually('the outage is noticed', async () => {
        // It fails, and only then some stores notice the outage. Another test looks at the error.
        await scene.one.records.read('key').catch(() => undefined);
        return !scene.one.health().connected;
      });
      const { members, problem } = scene.one.health();
      assert.equal(members, 0);
      assert.ok(problem, 'health() has no problem');
    }));
}

function describeWrites({ it }: ContractTests, scene: OutageScene): void {
  it('makes a later write fail, and its error is right about what became of it', async () => {
    const writes = await scene.during(() => Promise.all(COLLECTIONS.map((name) => next(undefined, scene.one, name))));
    for (const write of writes) {
      assert.ok(write.outcome instanceof GatekeeperError, `The write ended with ${String(write.outcome)}`);
      await assertTrue(write, scene.one);
    }
  });

  it('breaks off many writes, and each error is right about what became of its write', async () => {
    const writes = await scene.breakOff();
    assert.ok(writes.filter(({ outcome }) => outcome !== true).length >= FLOWS, 'No write met the outage');
    for (const write of latest(writes)) await assertTrue(write, scene.other);
  });
}

function describePolls({ it }: ContractTests, scene: OutageScene): void {
  it('ends a poll that waits with an error of the store, or the poll goes on; later polls get hints', async () => {
    const { one, other } = scene;
    const [name, { signal }] = [randomUUID(), new AbortController()];
    let ended: unknown;
    const polling = one.queue(name).poll(FOR_EVER, signal);
    void polling.catch((error: unknown) => error).then((outcome) => (ended = outcome));
    await scene.during(async () => undefined);
    await eventually('the poll ends', async () => {
      await other.queue(name).offer(['hint']);
      return ended !== undefined;
    });
    assert.ok(ended === 'hint' || ended instanceof GatekeeperError, `The poll ended with ${String(ended)}`);
    await other.queue(name).offer(['hint']);
    assert.equal(await one.queue(name).poll(FOR_EVER, signal), 'hint');
  });
}

/** A frozen server breaks no connection, so only the timeout of a call ends it. */
function describeSilence({ it }: ContractTests, scene: OutageScene): void {
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
        const reads = Object.entries(READS);
        await Promise.all(
          reads.map(([name, read]) => ends(assertRejects(read(scene.one), StoreUnavailableError), name)),
        );
      }),
    ));

  it('without an end of the connections ends many writes in time, and each error is right about its write', () =>
    unlessLoud(async () => {
      const writes = await scene.breakOff((all) => scene.inSilence(() => ends(all, 'a write')));
      assert.ok(writes.filter(({ outcome }) => outcome !== true).length >= FLOWS, 'No write met the silence');
      for (const write of latest(writes)) await assertTrue(write, scene.other);
    }));
}

function describeReturn(tests: ContractTests, scene: OutageScene, lacks: StoreLacks): void {
  tests.it('leaves the texts as they were, and no problem in the health', async () => {
    const key = scene.newKey();
    await scene.one.records.compareAndSet(key, undefined, 'before');
    await scene.during(async () => undefined);
    assert.equal(await scene.one.records.read(key), 'before');
    assert.equal(await scene.one.records.compareAndSet(key, 'before', 'after'), true);
    await scene.one.now(); // a clock that failed remains a problem until it answers again
    assert.equal(scene.one.health().problem, undefined);
  });

  const key = scene.newKey();
  const changes: RecordChange[] = [];

  tests.it('lets a watch go on', async () => {
    await scene.one.watch(key, (change) => changes.push(change));
    await scene.during(() => assertRejects(scene.one.records.read(key), StoreUnavailableError));
    let text = 0;
    await eventually('a change of the key', async () => {
      await scene.other.records.compareAndSet(key, text === 0 ? undefined : String(text), String(++text));
      return changes.some((change) => change.key === key);
    });
  });

  tests.unlessLacking('changeWithoutKey', lacks.changeWithoutKey, undefined, () => {
    tests.it('made the watch tell that anything may have changed', async () => {
      const what = "a change without a key. If the watch can miss nothing, declare lacks: { changeWithoutKey: 'why' }";
      await eventually(what, () => changes.some((change) => change.key === undefined));
    });
  });
}

/** Two clients with short timeouts, and what happens to them. */
class OutageScene {
  one!: Driver;
  other!: Driver;

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
    return this.#during(() => this.#outage.silence!(), act);
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

  /** Changes texts of all collections in several flows over both clients, until each flow met the outage. */
  breakOff(stop = (all: Promise<unknown>): Promise<unknown> => this.during(() => all)): Promise<Change[]> {
    return changeUntil(changesOf(this.one, this.other), stop);
  }

  get #outage(): Outage {
    const { outage } = this.clients.underTest;
    assert.ok(outage, "Give `outage` in `prepare`, or declare lacks: { outage: 'the reason' }");
    return outage;
  }
}
