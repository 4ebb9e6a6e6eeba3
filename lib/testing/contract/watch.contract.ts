import { strict as assert } from 'node:assert';
import type { RecordChange, Driver } from '../../core/store/driver.js';
import { AWKWARD_TEXTS } from './awkward-texts.js';
import { eventually } from './eventually.js';
import type { StoreClients } from './store-clients.js';
import type { ContractTests } from './test-runner.js';

/** Begins a watch, which ends with the test. @returns the changes so far, in their order */
type Watch = (store: Driver, prefix: string) => Promise<RecordChange[]>;

/**
 * Contract of {@link Driver.watch} and {@link Driver.awaitChanges}. A watch is only a hint, but on a healthy
 * connection it must come: otherwise nodes find out by their slow polls.
 */
export function describeWatchContract(tests: ContractTests, clients: StoreClients): void {
  const watching = (name: string, test: (watch: Watch) => Promise<void>) =>
    tests.it(name, () => withWatches((watch) => test(watch)));

  /** Waits for a key with the text `0` + `end` until `changes` has one of the writes that notify only those who wait. */
  async function heardWhileWaiting(changes: readonly RecordChange[], key: string, end = ''): Promise<void> {
    const endWait = clients.one.awaitChanges?.(key);
    const texts = [`0${end}`];
    // The first of them may be missed: the other client may not know yet that this one waits.
    await eventually('word of it', async () => {
      const next = `${texts.length}${end}`;
      await clients.other.records.compareAndSet(key, texts.at(-1), next, { notify: 'waiting' });
      texts.push(next);
      return changes.some((change) => change.key === key && texts.indexOf(change.text ?? '') > 0);
    });
    endWait?.();
  }

  tests.describe('watch', () => {
    watching('tells of a new text that the other client wrote', async (watch) => {
      const key = clients.newKey();
      const changes = await watch(clients.one, 'contract:');
      await clients.other.records.compareAndSet(key, undefined, 'new');
      await heard(changes, key, 'new');
    });

    watching('tells of a changed text, and ends with the latest', async (watch) => {
      const key = await clients.written('0');
      const changes = await watch(clients.one, key);
      for (let i = 0; i < 20; i += 1) await clients.other.records.compareAndSet(key, String(i), String(i + 1));
      await heard(changes, key, '20');
      assert.deepEqual({ ...changes.at(-1) }, { key, text: '20' });
    });

    watching('tells of each of many texts that were written at once', async (watch) => {
      const keys = Array.from({ length: 50 }, () => clients.newKey());
      const changes = await watch(clients.one, 'contract:');
      await Promise.all(keys.map((key) => clients.other.records.compareAndSet(key, undefined, `text of ${key}`)));
      for (const key of keys) await heard(changes, key, `text of ${key}`);
    });

    for (const [name, end] of AWKWARD_TEXTS) {
      watching(`tells of keys and texts with ${name}, unchanged, also those who wait`, async (watch) => {
        const key = `${clients.newKey()}${end}`;
        const changes = await watch(clients.one, 'contract:');
        await clients.other.records.compareAndSet(key, undefined, `0${end}`);
        await heard(changes, key, `0${end}`);
        await heardWhileWaiting(changes, key, end);
      });
    }

    watching('tells the client itself of what it wrote, after the call began', async (watch) => {
      const key = clients.newKey();
      const changes = await watch(clients.one, key);
      const writing = clients.one.records.compareAndSet(key, undefined, 'mine');
      assert.deepEqual(changes, []);
      await writing;
      await heard(changes, key, 'mine');
    });

    watching('tells nothing of keys that begin otherwise', async (watch) => {
      const [watched, unwatched] = [clients.newKey(), clients.newKey()];
      const changes = await watch(clients.one, watched);
      await clients.other.records.compareAndSet(unwatched, undefined, 'unwatched');
      await clients.other.records.compareAndSet(watched, undefined, 'watched');
      await heard(changes, watched, 'watched');
      assert.ok(!changes.some(({ key }) => key === unwatched), 'The watch told of a key outside its prefix');
    });

    watching('tells a client that waits for a key of writes that notify only those who wait', async (watch) => {
      const key = await clients.written('0');
      const changes = await watch(clients.one, key);
      await heardWhileWaiting(changes, key);
    });

    watching('is silent once it was ended, while others go on', async (watch) => {
      const key = clients.newKey();
      const ended: RecordChange[] = [];
      const end = await clients.one.watch(key, (change) => ended.push(change));
      const going = await watch(clients.one, key);
      await end();
      await clients.other.records.compareAndSet(key, undefined, 'text');
      await heard(going, key, 'text');
      assert.deepEqual(ended, []);
    });
  });
}

async function withWatches(test: (watch: Watch) => Promise<void>): Promise<void> {
  const ends: (() => Promise<void>)[] = [];
  const watch: Watch = async (store, prefix) => {
    const changes: RecordChange[] = [];
    ends.push(await store.watch(prefix, (change) => changes.push(change)));
    return changes;
  };
  try {
    await test(watch);
  } finally {
    await Promise.all(ends.map((end) => end()));
  }
}

async function heard(changes: readonly RecordChange[], key: string, text: string): Promise<void> {
  await eventually(`word of ${text}`, () => changes.some((change) => change.key === key && change.text === text));
}
