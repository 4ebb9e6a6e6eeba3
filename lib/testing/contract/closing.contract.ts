import { strict as assert } from 'node:assert';
import { StoreUnavailableError } from '../../core/store/store.errors.js';
import type { RecordChange, Driver } from '../../core/store/driver.js';
import { assertRejects } from './assertions.js';
import { eventually } from './eventually.js';
import { type NamedCalls, READS } from './outage.contract.js';
import type { StoreClients } from './store-clients.js';
import type { ContractTests } from './test-runner.js';
import { assertTrue, changeUntil, changesOf, latest } from './text-changes.js';
import { COLLECTIONS } from './texts.contract.js';

const CALLS: NamedCalls = {
  ...READS,
  ...Object.fromEntries(
    COLLECTIONS.map((name) => [
      `compareAndSet of ${name}`,
      (store: Driver) => store[name].compareAndSet('key', undefined, 'text'),
    ]),
  ),
  watch: (store) => store.watch('', () => undefined),
  append: (store) => store.journal('closed').append(['text']),
  offer: (store) => store.queue('closed').offer(['hint']),
  poll: (store) => store.queue('closed').poll(10, new AbortController().signal),
  drain: (store) => store.queue('closed').drain(1),
  'the removal of hints': (store) => store.queue('closed').remove(['hint']),
};

/** Contract of {@link Driver.close}. */
export function describeClosingContract({ describe, it }: ContractTests, clients: StoreClients): void {
  describe('close', () => {
    it('is done once, however often it is called, and leaves other clients alone', async () => {
      const store = await clients.open();
      await Promise.all([store.close(), store.close()]);
      await store.close();
      const { connected, members } = store.health();
      assert.deepEqual({ connected, members }, { connected: false, members: 0 });
      assert.equal(await clients.one.records.read(clients.newKey()), undefined);
    });

    for (const [name, call] of Object.entries(CALLS)) {
      it(`makes ${name} refuse later calls`, async () => {
        const store = await clients.open();
        await store.close();
        await assertRejects(call(store), StoreUnavailableError);
      });
    }

    it('ends writes under way, and each error is right about what became of its write', async () => {
      const store = await clients.open();
      const changes = await changeUntil(changesOf(store), () => store.close());
      for (const change of latest(changes)) await assertTrue(change, clients.one);
    });

    it('ends the watches', async () => {
      const key = clients.newKey();
      const store = await clients.open();
      const ended: RecordChange[] = [];
      await store.watch(key, (change) => ended.push(change));
      await store.close();
      const going = await watchUntil(clients.one, key, () =>
        clients.other.records.compareAndSet(key, undefined, 'text'),
      );
      assert.ok(going.some((change) => change.key === key && change.text === 'text'));
      assert.deepEqual(ended, []);
    });
  });
}

/** Watches while `act` runs, and until a change came. @returns the changes */
async function watchUntil(store: Driver, key: string, act: () => Promise<unknown>): Promise<RecordChange[]> {
  const changes: RecordChange[] = [];
  const end = await store.watch(key, (change) => changes.push(change));
  await act();
  await eventually('a change', () => changes.length > 0);
  await end();
  return changes;
}
