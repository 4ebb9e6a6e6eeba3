import { strict as assert } from 'node:assert';
import { StoreUnavailableError } from '../../core/store/store.errors.js';
import type { RecordChange, RecordStore } from '../../core/store/store.js';
import { assertRejects } from './assertions.js';
import { eventually } from './eventually.js';
import { writeUntil } from './flows.js';
import { assertTrue, attempt } from './new-record.js';
import type { StoreClients, StoreLacks } from './store-under-test.js';
import type { ContractTests } from './test-runner.js';

const CALLS: Readonly<Record<string, (store: RecordStore) => Promise<unknown>>> = {
  read: (store) => store.read('key'),
  compareAndSet: (store) => store.compareAndSet('key', undefined, 'text'),
  list: (store) => store.list(''),
  page: (store) => store.page!(''),
  readMany: (store) => store.readMany!(['key']),
  watch: (store) => store.watch('', () => undefined),
  now: (store) => store.now(),
  append: (store) => store.journal('closed').append(['text']),
  'the reading of a journal': (store) => store.journal('closed').read(1),
};

/** Contract of {@link RecordStore.close}. */
export function describeClosingContract(tests: ContractTests, clients: StoreClients, lacks: StoreLacks): void {
  const { describe, it } = tests;
  describe('close', () => {
    it('is done once, however often it is called, and leaves other clients alone', async () => {
      const store = await clients.open();
      await Promise.all([store.close(), store.close()]);
      await store.close();
      const { connected, members } = store.health();
      assert.deepEqual({ connected, members }, { connected: false, members: 0 });
      assert.equal(await clients.one.read(clients.newKey()), undefined);
    });

    for (const [name, call] of Object.entries(CALLS)) {
      if (name in lacks) continue; // the listing prints its absence
      it(`makes ${name} refuse later calls`, async () => {
        const store = await clients.open();
        await store.close();
        await assertRejects(call(store), StoreUnavailableError);
      });
    }

    it('ends writes under way, and each error is right about what became of its write', async () => {
      const store = await clients.open();
      const writes = await writeUntil([() => attempt(store, clients.newKey())], () => store.close());
      for (const write of writes) await assertTrue(write, clients.one);
    });

    it('ends the watches', async () => {
      const key = clients.newKey();
      const store = await clients.open();
      const ended: RecordChange[] = [];
      await store.watch(key, (change) => ended.push(change));
      await store.close();
      const going = await watchUntil(clients.one, key, () => clients.other.compareAndSet(key, undefined, 'text'));
      assert.ok(going.some((change) => change.key === key && change.text === 'text'));
      assert.deepEqual(ended, []);
    });
  });
}

/** Watches while `act` runs, and until a change came. @returns the changes */
async function watchUntil(store: RecordStore, key: string, act: () => Promise<unknown>): Promise<RecordChange[]> {
  const changes: RecordChange[] = [];
  const end = await store.watch(key, (change) => changes.push(change));
  await act();
  await eventually('a change', () => changes.length > 0);
  await end();
  return changes;
}
