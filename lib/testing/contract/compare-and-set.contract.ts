import { strict as assert } from 'node:assert';
import type { RecordStore } from '../../core/store/store.js';
import { AWKWARD_TEXTS, keysThatLookAlike } from './awkward-texts.js';
import type { StoreClients } from './store-under-test.js';
import type { ContractTests } from './test-runner.js';

/** Contract of {@link RecordStore.compareAndSet} and {@link RecordStore.read}. */
export function describeCompareAndSetContract(tests: ContractTests, clients: StoreClients): void {
  tests.describe('compare-and-set', () => {
    describeComparisons(tests, clients);
    describeTexts(tests, clients);
    describeRaces(tests, clients);
  });
}

function describeComparisons({ it }: ContractTests, clients: StoreClients): void {
  it('finds nothing under a key that was never written', async () => {
    assert.equal(await clients.one.read(clients.newKey()), undefined);
  });

  it('writes the first text only where there is none', async () => {
    const key = await clients.written('first');
    assert.equal(await clients.other.compareAndSet(key, undefined, 'second'), false);
    assert.equal(await clients.one.read(key), 'first');
  });

  it('writes from the exact text, and the other client reads it', async () => {
    const key = await clients.written('before');
    assert.equal(await clients.one.compareAndSet(key, 'before', 'after'), true);
    assert.equal(await clients.other.read(key), 'after');
  });

  it('reads what the other client has written since it last read', async () => {
    const key = await clients.written('0');
    for (let text = 0; text < 5; text += 1) {
      assert.equal(await clients.one.read(key), String(text));
      await clients.other.compareAndSet(key, String(text), String(text + 1));
    }
  });

  it('leaves the text untouched when another one was expected', async () => {
    const key = await clients.written('{"x":1}');
    assert.equal(await clients.one.compareAndSet(key, '{ "x": 1 }', 'never'), false);
    assert.equal(await clients.one.read(key), '{"x":1}');
  });

  it('writes nothing where a text was expected and there is none', async () => {
    const key = clients.newKey();
    assert.equal(await clients.one.compareAndSet(key, 'something', 'never'), false);
    assert.equal(await clients.one.read(key), undefined);
  });

  it('accepts the text that is there already', async () => {
    const key = await clients.written('same');
    assert.equal(await clients.one.compareAndSet(key, 'same', 'same'), true);
  });
}

function describeTexts({ it }: ContractTests, clients: StoreClients): void {
  for (const [name, text] of AWKWARD_TEXTS) {
    it(`compares ${name} as they are`, async () => {
      const key = await clients.written(text);
      assert.equal(await clients.other.read(key), text);
      assert.equal(await clients.other.compareAndSet(key, text, 'next'), true);
    });
  }

  it('keeps texts apart whose keys look alike', async () => {
    const keys = keysThatLookAlike(clients.newKey());
    for (const key of keys) assert.equal(await clients.one.compareAndSet(key, undefined, `text of ${key}`), true, key);
    for (const key of keys) assert.equal(await clients.other.read(key), `text of ${key}`);
  });

  it('tells apart texts that look the same', async () => {
    const key = await clients.written('\u00e9');
    assert.equal(await clients.one.compareAndSet(key, 'e\u0301', 'never'), false);
  });

  it('keeps a text of 1 MB, and replaces it by another one', async () => {
    const text = 'ü'.repeat(512 * 1024);
    const key = await clients.written(text);
    assert.ok((await clients.other.read(key)) === text, 'The other client reads another text');
    assert.equal(await clients.other.compareAndSet(key, text, 'ä'.repeat(512 * 1024)), true);
  });
}

function describeRaces({ it }: ContractTests, clients: StoreClients): void {
  /** Lets 40 writers of two clients write at once. @returns the texts of those that succeeded */
  const race = async (key: string, expected: string | undefined): Promise<string[]> => {
    const writers = Array.from({ length: 40 }, (_, writer) =>
      (writer % 2 ? clients.one : clients.other).compareAndSet(key, expected, `writer ${writer}`),
    );
    return (await Promise.all(writers)).flatMap((won, writer) => (won ? [`writer ${writer}`] : []));
  };

  it('lets exactly one of many concurrent writers win, over two clients', async () => {
    const key = await clients.written('start');
    assert.deepEqual(await race(key, 'start'), [await clients.one.read(key)]);
  });

  it('lets exactly one of many concurrent first writers win, over two clients', async () => {
    const key = clients.newKey();
    assert.deepEqual(await race(key, undefined), [await clients.one.read(key)]);
  });

  it('answers each of many writes that come at once by itself', async () => {
    const isFree = Array.from({ length: 100 }, (_, index) => index % 3 !== 0);
    const all = <T>(call: (index: number) => Promise<T>) => Promise.all(isFree.map((_, index) => call(index)));
    const keys = await all((index) => (isFree[index] ? Promise.resolve(clients.newKey()) : clients.written('there')));
    assert.deepEqual(await all((index) => clients.one.compareAndSet(keys[index]!, undefined, `${index}`)), isFree);
    assert.deepEqual(
      await all((index) => clients.one.compareAndSet(keys[index]!, `${index}`, `next ${index}`)),
      isFree,
    );
    assert.deepEqual(
      await all((index) => clients.other.read(keys[index]!)),
      isFree.map((wasFree, index) => (wasFree ? `next ${index}` : 'there')),
    );
  });

  it('makes a racy counter exact, counted up by ten flows of two clients', async () => {
    const key = await clients.written('0');
    const countUp = async (store: RecordStore): Promise<void> => {
      const text = await store.read(key);
      if (!(await store.compareAndSet(key, text, String(Number(text) + 1)))) await countUp(store);
    };
    const flow = async (store: RecordStore) => {
      for (let i = 0; i < 10; i += 1) await countUp(store);
    };
    const both = [clients.one, clients.other];
    await Promise.all(both.flatMap((store) => Array.from({ length: 5 }, () => flow(store))));
    assert.equal(await clients.one.read(key), '100');
  });
}
