import { Slices } from '../async/slices.js';
import type { Context } from '../context/context.js';
import type { RecordPage } from '../store/index.js';

/** Reads all texts whose keys begin with `prefix`, page by page. @throws StoreUnavailableError */
export async function* recordPages({ store }: Context, prefix: string): AsyncGenerator<RecordPage['texts'], void> {
  for (let page: RecordPage | undefined; !page || page.next !== undefined;) {
    page = await store.records.page(prefix, page?.next);
    yield page.texts;
  }
}

/** Reads all texts whose keys begin with `prefix`, by key. @throws StoreUnavailableError */
export async function listRecords(context: Context, prefix: string): Promise<Map<string, string>> {
  const slices = Slices.of(context.nodeClock);
  const texts = new Map<string, string>();
  for await (const page of recordPages(context, prefix)) {
    for (const [key, text] of page) {
      if (slices.isOver) await slices.turn();
      texts.set(key, text);
    }
  }
  return texts;
}

/** Reads one text, by key. Empty if the store has no such key. @throws StoreUnavailableError */
export async function readRecord({ store }: Context, key: string): Promise<Map<string, string>> {
  const text = await store.records.read(key);
  return new Map(text === undefined ? [] : [[key, text]]);
}
