import { MOST_KEYS, type RecordPage, type RecordStore } from './store.js';

/** One page of a store's texts, or all texts if the store has no pages. */
export async function onePage(store: RecordStore, prefix: string, after?: string): Promise<RecordPage> {
  return store.page ? store.page(prefix, after) : { texts: await store.list(prefix) };
}

/** The texts of all pages. */
export async function allPages(page: (after?: string) => Promise<RecordPage>): Promise<Map<string, string>> {
  const texts = new Map<string, string>();
  for (let one: RecordPage | undefined; !one || one.next !== undefined;) {
    one = await page(one?.next);
    for (const [key, text] of one.texts) texts.set(key, text);
  }
  return texts;
}

/** Reads the texts under any number of keys. Leaves out keys without a text. */
export async function readMany(store: RecordStore, keys: readonly string[]): Promise<Map<string, string>> {
  const texts = new Map<string, string>();
  for (let at = 0; at < keys.length; at += MOST_KEYS) {
    const some = keys.slice(at, at + MOST_KEYS);
    const read = store.readMany ? await store.readMany(some) : await readEach(store, some);
    for (const [key, text] of read) texts.set(key, text);
  }
  return texts;
}

async function readEach(store: RecordStore, keys: readonly string[]): Promise<[string, string][]> {
  const read = await Promise.all(keys.map(async (key) => [key, await store.read(key)] as const));
  return read.flatMap(([key, text]) => (text === undefined ? [] : [[key, text]]));
}
