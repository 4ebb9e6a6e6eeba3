import { strict as assert } from 'node:assert';
import { randomUUID } from 'node:crypto';
import { MOST_KEYS, type RecordPage, type RecordStore } from '../../core/store/store.js';
import { present } from './assertions.js';
import type { StoreClients, StoreLacks } from './store-under-test.js';
import type { ContractTests } from './test-runner.js';

/** Contract of {@link RecordStore.list}, {@link RecordStore.page} and {@link RecordStore.readMany}. */
export function describeListingContract(tests: ContractTests, clients: StoreClients, lacks: StoreLacks): void {
  tests.describe('list', () => describeList(tests, clients));
  tests.describe('pages and many keys', () => {
    const { one } = { one: () => clients.one };
    tests.unlessLacking(
      'page',
      lacks.page,
      () => one().page !== undefined,
      () => {
        describePages(tests, clients);
        describeMovedPages(tests, clients);
      },
    );
    tests.unlessLacking(
      'readMany',
      lacks.readMany,
      () => one().readMany !== undefined,
      () => describeManyKeys(tests, clients),
    );
  });
}

function describeList({ it }: ContractTests, clients: StoreClients): void {
  it('gives every text whose key begins with the prefix, and no other', async () => {
    const prefix = `list-${randomUUID()}:`;
    const ends = ['a', '%_*\\', 'ünï "x"\n', 'a@b@c', ' blank ', ''];
    const keys = ends.map((end) => prefix + end);
    for (const key of keys) await clients.one.compareAndSet(key, undefined, `text of ${key}`);
    await clients.one.compareAndSet(`x${prefix}a`, undefined, 'another');
    assert.deepEqual(await clients.other.list(prefix), new Map(keys.map((key) => [key, `text of ${key}`])));
  });

  it('lists what the other client has written since it last listed', async () => {
    const prefix = `again-${randomUUID()}:`;
    const list = () => clients.one.list(prefix);
    await isUpToDate(clients.other, `${prefix}a`, async (key) => (await list()).get(key));
  });

  it('takes no character of the prefix for a wildcard', async () => {
    const id = randomUUID();
    await clients.one.compareAndSet(`${id}xx`, undefined, 'text');
    assert.deepEqual(await clients.one.list(`${id}%`), new Map());
    assert.deepEqual(await clients.one.list(`${id}_`), new Map());
  });
}

function describePages({ it }: ContractTests, clients: StoreClients): void {
  it('gives every text whose key begins with the prefix on exactly one page, and no other', async () => {
    const prefix = `pages-${randomUUID()}:`;
    const texts = new Map(Array.from({ length: 2500 }, (_, i) => [`${prefix}${i}`, `text ${i}`]));
    await writeAll(clients.one, texts);
    const { largestPage = 1000, isPagedByPrefix } = clients.underTest;
    const pages = await allPages(clients.other, prefix);
    const listed = pages.flatMap((page) => [...page.texts]);
    assert.equal(listed.length, texts.size);
    assert.deepEqual(new Map(listed), texts);
    assert.ok(Math.max(...pages.map((page) => page.texts.size)) <= largestPage, 'A page is too large');

    const empty = await allPages(clients.other, `${prefix}none`);
    assert.deepEqual(
      empty.flatMap((page) => [...page.texts]),
      [],
    );
    if (isPagedByPrefix) assert.equal(empty.length, 1);
  });
}

/** A node that misses a write would count it as lost. @param read reads a key by another client than the writer */
async function isUpToDate(
  writer: RecordStore,
  key: string,
  read: (key: string) => Promise<string | undefined>,
): Promise<void> {
  let former: string | undefined;
  for (const next of ['1', '2', '3']) {
    assert.equal(await read(key), former);
    assert.equal(await writer.compareAndSet(key, former, next), true);
    former = next;
  }
  assert.equal(await read(key), former);
}

/** A page that begins at a number of texts, and not behind a text, moves when others are written. */
function describeMovedPages({ it }: ContractTests, clients: StoreClients): void {
  it('gives each text on exactly one page, also while others are written', async () => {
    const prefix = `moved-${randomUUID()}:`;
    const texts = new Map(Array.from({ length: 1200 }, (_, i) => [`${prefix}m${i}`, `text ${i}`]));
    await writeAll(clients.one, texts);
    const listed: string[] = [];
    let pages = 0;
    await allPages(clients.other, prefix, async (page) => {
      listed.push(...[...page.texts.keys()].filter((key) => texts.has(key)));
      for (const place of pages++ < 20 ? ['a', 'm', 'z'] : [])
        await clients.one.compareAndSet(`${prefix}${place}${randomUUID()}`, undefined, 'meanwhile', { notify: 'none' });
    });
    assert.deepEqual(listed.toSorted(), [...texts.keys()].toSorted());
  });
}

function describeManyKeys({ it }: ContractTests, clients: StoreClients): void {
  const readMany = (keys: readonly string[]) => present(clients.other.readMany, 'readMany').call(clients.other, keys);

  it('reads the texts of many keys at once, without those that have none', async () => {
    const [first, second] = [await clients.written('first'), await clients.written('second')];
    const expected = new Map([
      [first, 'first'],
      [second, 'second'],
    ]);
    assert.deepEqual(await readMany([first, clients.newKey(), second]), expected);
    assert.deepEqual(await readMany([]), new Map());
  });

  it('reads what the other client has written since it last read', async () => {
    await isUpToDate(clients.one, clients.newKey(), async (key) => (await readMany([key])).get(key));
  });

  it('reads as many keys as may be asked for', async () => {
    const key = await clients.written('text');
    const keys = [...Array.from({ length: MOST_KEYS - 1 }, () => clients.newKey()), key];
    assert.deepEqual(await readMany(keys), new Map([[key, 'text']]));
  });
}

async function allPages(
  store: RecordStore,
  prefix: string,
  afterEach: (page: RecordPage) => Promise<void> = async () => undefined,
): Promise<RecordPage[]> {
  const page = present(store.page, 'page').bind(store);
  const all: RecordPage[] = [];
  do {
    all.push(await page(prefix, all.at(-1)?.next));
    await afterEach(all.at(-1)!);
  } while (all.at(-1)!.next !== undefined);
  return all;
}

/** Writes all texts, in 50 flows at once. */
async function writeAll(store: RecordStore, texts: ReadonlyMap<string, string>): Promise<void> {
  const entries = texts.entries();
  const flow = async () => {
    for (const [key, text] of entries) await store.compareAndSet(key, undefined, text, { notify: 'none' });
  };
  await Promise.all(Array.from({ length: 50 }, flow));
}
