import { strict as assert } from 'node:assert';
import { MOST_KEYS, type TextCollection } from '../../core/store/driver.js';
import { AWKWARD_TEXTS, keysThatLookAlike } from './awkward-texts.js';
import type { StoreClients } from './store-clients.js';
import type { ContractTests } from './test-runner.js';

/** Collections of a driver. */
export type CollectionName = 'records' | 'tasks' | 'groups';

export const COLLECTIONS: readonly CollectionName[] = ['records', 'tasks', 'groups'];

/** One collection, as two clients see it. */
class Collection {
  constructor(
    readonly name: CollectionName,
    private readonly clients: StoreClients,
  ) {}

  get one(): TextCollection {
    return this.clients.one[this.name];
  }

  get other(): TextCollection {
    return this.clients.other[this.name];
  }

  newKey(): string {
    return this.clients.newKey();
  }

  /** @returns a new key with that text */
  async written(text: string): Promise<string> {
    const key = this.newKey();
    assert.equal(await this.one.compareAndSet(key, undefined, text), true);
    return key;
  }

  /** Lets 40 writers of both clients write at once. @returns the texts of those that succeeded */
  async race<Next extends string | undefined>(
    key: string,
    expected: string | undefined,
    next: (writer: number) => Next,
  ): Promise<Next[]> {
    const writers = Array.from({ length: 40 }, (_, writer) =>
      (writer % 2 ? this.one : this.other).compareAndSet(key, expected, next(writer)),
    );
    return (await Promise.all(writers)).flatMap((won, writer) => (won ? [next(writer)] : []));
  }
}

/** Contract of {@link TextCollection}, for each of these collections. */
export function describeTextsContract(
  tests: ContractTests,
  clients: StoreClients,
  collections: readonly CollectionName[] = COLLECTIONS,
): void {
  for (const name of collections) {
    tests.describe(`compare-and-set of ${name}`, () => {
      const texts = new Collection(name, clients);
      describeComparisons(tests, texts);
      describeKeptTexts(tests, texts);
      describeManyKeys(tests, texts);
      describeRaces(tests, texts);
      if (name !== 'records') describeRemovals(tests, texts);
    });
  }

  if (collections.length === 1) return;
  tests.it('keeps records, tasks and groups apart', async () => {
    const key = clients.newKey();
    for (const name of COLLECTIONS) assert.equal(await clients.one[name].compareAndSet(key, undefined, name), true);
    for (const name of COLLECTIONS) assert.equal(await clients.other[name].read(key), name);
  });
}

function describeComparisons({ it }: ContractTests, texts: Collection): void {
  it('finds nothing under a key that was never written', async () => {
    assert.equal(await texts.one.read(texts.newKey()), undefined);
  });

  it('writes the first text only where there is none', async () => {
    const key = await texts.written('first');
    assert.equal(await texts.other.compareAndSet(key, undefined, 'second'), false);
    assert.equal(await texts.one.read(key), 'first');
  });

  it('writes from the exact text, and the other client reads it', async () => {
    const key = await texts.written('before');
    assert.equal(await texts.one.compareAndSet(key, 'before', 'after'), true);
    assert.equal(await texts.other.read(key), 'after');
  });

  it('reads what the other client has written since it last read', async () => {
    const key = await texts.written('0');
    for (let text = 0; text < 5; text += 1) {
      assert.equal(await texts.one.read(key), String(text));
      assert.equal(await texts.other.compareAndSet(key, String(text), String(text + 1)), true);
    }
  });

  it('leaves the text untouched when another one was expected', async () => {
    const key = await texts.written('{"x":1}');
    assert.equal(await texts.one.compareAndSet(key, '{ "x": 1 }', 'never'), false);
    assert.equal(await texts.other.read(key), '{"x":1}');
  });

  it('writes nothing where a text was expected and there is none', async () => {
    const key = texts.newKey();
    for (const expected of ['something', '']) {
      assert.equal(await texts.one.compareAndSet(key, expected, 'never'), false);
    }
    assert.equal(await texts.other.read(key), undefined);
  });

  it('accepts the text that is there already', async () => {
    const key = await texts.written('same');
    assert.equal(await texts.one.compareAndSet(key, 'same', 'same'), true);
  });
}

function describeKeptTexts({ it }: ContractTests, texts: Collection): void {
  for (const [name, text] of AWKWARD_TEXTS) {
    it(`compares ${name} as they are`, async () => {
      const key = await texts.written(text);
      assert.equal(await texts.other.read(key), text);
      assert.equal(await texts.other.compareAndSet(key, text, `${text}.`), true);
    });
  }

  it('keeps texts apart whose keys look alike', async () => {
    const keys = keysThatLookAlike(texts.newKey());
    for (const key of keys) assert.equal(await texts.one.compareAndSet(key, undefined, `text of ${key}`), true, key);
    for (const key of keys) assert.equal(await texts.other.read(key), `text of ${key}`);
  });

  it('tells apart texts that look the same', async () => {
    const key = await texts.written('\u00e9');
    assert.equal(await texts.one.compareAndSet(key, 'e\u0301', 'never'), false);
  });

  it('keeps a text of 1 MB, and replaces it by another one', async () => {
    const text = 'ü'.repeat(512 * 1024);
    const key = await texts.written(text);
    assert.ok((await texts.other.read(key)) === text, 'The other client reads another text');
    assert.equal(await texts.other.compareAndSet(key, text, 'ä'.repeat(512 * 1024)), true);
  });
}

function describeManyKeys({ it }: ContractTests, texts: Collection): void {
  it('reads the texts of many keys at once, without those that have none', async () => {
    const [first, second] = [await texts.written('first'), await texts.written('second')];
    const absent = Array.from({ length: MOST_KEYS - 2 }, () => texts.newKey());
    const expected = new Map([
      [first, 'first'],
      [second, 'second'],
    ]);
    assert.deepEqual(await texts.other.readMany([first, ...absent, second]), expected);
    assert.deepEqual(await texts.other.readMany([]), new Map());
  });

  it('reads by many keys what the other client has written since', async () => {
    const key = texts.newKey();
    let former: string | undefined;
    for (const next of ['1', '2', '3', undefined]) {
      assert.equal((await texts.other.readMany([key])).get(key), former);
      if (next !== undefined) assert.equal(await texts.one.compareAndSet(key, former, next), true);
      former = next;
    }
  });
}

function describeRaces({ it }: ContractTests, texts: Collection): void {
  it('lets exactly one of many concurrent writers win, over two clients', async () => {
    const key = await texts.written('start');
    assert.deepEqual(await texts.race(key, 'start', String), [await texts.one.read(key)]);
  });

  it('lets exactly one of many concurrent first writers win, over two clients', async () => {
    const key = texts.newKey();
    assert.deepEqual(await texts.race(key, undefined, String), [await texts.one.read(key)]);
  });

  it('answers each of many writes that come at once by itself', async () => {
    const isFree = Array.from({ length: 100 }, (_, index) => index % 3 !== 0);
    const all = <T>(call: (index: number) => Promise<T>) => Promise.all(isFree.map((_, index) => call(index)));
    const keys = await all((index) => (isFree[index] ? Promise.resolve(texts.newKey()) : texts.written('there')));
    assert.deepEqual(await all((index) => texts.one.compareAndSet(keys[index]!, undefined, `${index}`)), isFree);
    assert.deepEqual(await all((index) => texts.one.compareAndSet(keys[index]!, `${index}`, `next ${index}`)), isFree);
    assert.deepEqual(
      await all((index) => texts.other.read(keys[index]!)),
      isFree.map((wasFree, index) => (wasFree ? `next ${index}` : 'there')),
    );
  });

  it('makes a racy counter exact, counted up by ten flows of two clients', async () => {
    const key = await texts.written('0');
    const countUp = async (client: TextCollection): Promise<void> => {
      const text = await client.read(key);
      if (!(await client.compareAndSet(key, text, String(Number(text) + 1)))) await countUp(client);
    };
    const flow = async (client: TextCollection) => {
      for (let i = 0; i < 10; i += 1) await countUp(client);
    };
    const both = [texts.one, texts.other];
    await Promise.all(both.flatMap((client) => Array.from({ length: 5 }, () => flow(client))));
    assert.equal(await texts.one.read(key), '100');
  });
}

/** Records are never removed. */
function describeRemovals({ it }: ContractTests, texts: Collection): void {
  it('removes the exact text, and a new one can be written', async () => {
    const key = await texts.written('text');
    assert.equal(await texts.other.compareAndSet(key, 'text', undefined), true);
    assert.equal(await texts.one.read(key), undefined);
    assert.equal(await texts.one.compareAndSet(key, undefined, 'new'), true);
    assert.equal(await texts.other.read(key), 'new');
  });

  it('removes nothing when another text was expected, or there is none', async () => {
    const key = await texts.written('{"x":1}');
    assert.equal(await texts.other.compareAndSet(key, '{ "x": 1 }', undefined), false);
    assert.equal(await texts.other.compareAndSet(key, '', undefined), false);
    assert.equal(await texts.one.read(key), '{"x":1}');
    assert.equal(await texts.one.compareAndSet(texts.newKey(), '', undefined), false);
  });

  it('lets exactly one of many concurrent writers remove a text', async () => {
    const key = await texts.written('text');
    assert.deepEqual(await texts.race(key, 'text', () => undefined), [undefined]);
    assert.equal(await texts.one.read(key), undefined);
  });

  it('answers each of many removals that come at once by itself', async () => {
    const isWanted = Array.from({ length: 100 }, (_, index) => index % 3 !== 0);
    const all = <T>(call: (index: number) => Promise<T>) => Promise.all(isWanted.map((_, index) => call(index)));
    const keys = await all((index) => texts.written(isWanted[index] ? `${index}` : 'other'));
    assert.deepEqual(await all((index) => texts.one.compareAndSet(keys[index]!, `${index}`, undefined)), isWanted);
    assert.deepEqual(
      await all((index) => texts.other.read(keys[index]!)),
      isWanted.map((wasRemoved) => (wasRemoved ? undefined : 'other')),
    );
  });
}
