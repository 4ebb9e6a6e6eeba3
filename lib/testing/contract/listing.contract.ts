import { strict as assert } from 'node:assert';
import { randomUUID } from 'node:crypto';
import type { RecordPage, RecordCollection } from '../../core/store/driver.js';
import { allTexts } from '../../core/store/paging.js';
import type { StoreClients } from './store-clients.js';
import type { ContractTests } from './test-runner.js';

/** Contract of {@link RecordCollection.page}. */
export function describeListingContract(tests: ContractTests, clients: StoreClients): void {
  tests.describe('pages of records', () => {
    describeList(tests, clients);
    describePages(tests, clients);
    describeMovedPages(tests, clients);
  });
}

function describeList({ it }: ContractTests, clients: StoreClients): void {
  it('give every text whose key begins with the prefix, and no other', async () => {
    const prefix = `list-${randomUUID()}:`;
    const ends = ['a', '%_*\\', 'ünï "x"\n', 'a@b@c', ' blank ', ''];
    const keys = ends.map((end) => prefix + end);
    for (const key of keys) await clients.one.records.compareAndSet(key, undefined, `text of ${key}`);
    await clients.one.records.compareAndSet(`x${prefix}a`, undefined, 'another');
    assert.deepEqual(
      await allTexts(clients.other.records, prefix),
      new Map(keys.map((key) => [key, `text of ${key}`])),
    );
  });

  it('give what the other client has written since they were last read', async () => {
    const key = `again-${randomUUID()}:a`;
    let former: string | undefined;
    // A node that misses a write would count it as lost.
    for (const next of ['1', '2', '3']) {
      assert.equal((await allTexts(clients.one.records, key)).get(key), former);
      assert.equal(await clients.other.records.compareAndSet(key, former, next), true);
      former = next;
    }
    assert.equal((await allTexts(clients.one.records, key)).get(key), former);
  });

  it('take no character of the prefix for a wildcard', async () => {
    const id = randomUUID();
    await clients.one.records.compareAndSet(`${id}xx`, undefined, 'text');
    assert.deepEqual(await allTexts(clients.one.records, `${id}%`), new Map());
    assert.deepEqual(await allTexts(clients.one.records, `${id}_`), new Map());
  });
}

function describePages({ it }: ContractTests, clients: StoreClients): void {
  it('give every text whose key begins with the prefix on exactly one page, and no other', async () => {
    const prefix = `pages-${randomUUID()}:`;
    const texts = new Map(Array.from({ length: 2500 }, (_, i) => [`${prefix}${i}`, `text ${i}`]));
    await writeAll(clients.one.records, texts);
    const { largestPage = 1000, isPagedByPrefix } = clients.underTest;
    const pages = await allPages(clients.other.records, prefix);
    const listed = pages.flatMap((page) => [...page.texts]);
    assert.equal(listed.length, texts.size);
    assert.deepEqual(new Map(listed), texts);
    assert.ok(Math.max(...pages.map((page) => page.texts.size)) <= largestPage, 'A page is too large');

    const empty = await allPages(clients.other.records, `${prefix}none`);
    assert.deepEqual(
      empty.flatMap((page) => [...page.texts]),
      [],
    );
    if (isPagedByPrefix) assert.equal(empty.length, 1);
  });
}

/** A page that begins at a number of texts, and not behind a text, moves when others are written. */
function describeMovedPages({ it }: ContractTests, clients: StoreClients): void {
  it('give each text on exactly one page, also while others are written', async () => {
    const prefix = `moved-${randomUUID()}:`;
    const texts = new Map(Array.from({ length: 1200 }, (_, i) => [`${prefix}m${i}`, `text ${i}`]));
    await writeAll(clients.one.records, texts);
    const listed: string[] = [];
    let pages = 0;
    await allPages(clients.other.records, prefix, async (page) => {
      listed.push(...[...page.texts.keys()].filter((key) => texts.has(key)));
      for (const place of pages++ < 20 ? ['a', 'm', 'z'] : [])
        await clients.one.records.compareAndSet(`${prefix}${place}${randomUUID()}`, undefined, 'meanwhile', {
          notify: 'none',
        });
    });
    assert.deepEqual(listed.toSorted(), [...texts.keys()].toSorted());
  });
}

async function allPages(
  records: RecordCollection,
  prefix: string,
  afterEach: (page: RecordPage) => Promise<void> = async () => undefined,
): Promise<RecordPage[]> {
  const all: RecordPage[] = [];
  do {
    all.push(await records.page(prefix, all.at(-1)?.next));
    await afterEach(all.at(-1)!);
  } while (all.at(-1)!.next !== undefined);
  return all;
}

/** Writes all texts, in 50 flows at once. */
async function writeAll(records: RecordCollection, texts: ReadonlyMap<string, string>): Promise<void> {
  const entries = texts.entries();
  const flow = async () => {
    for (const [key, text] of entries) await records.compareAndSet(key, undefined, text, { notify: 'none' });
  };
  await Promise.all(Array.from({ length: 50 }, flow));
}
