import { MOST_KEYS, type RecordPage, type RecordCollection } from './driver.js';
import { portionsOf } from './text-batches.js';

/** Every text whose key begins with `prefix`. */
export async function allTexts(records: Pick<RecordCollection, 'page'>, prefix: string): Promise<Map<string, string>> {
  const texts = new Map<string, string>();
  for (let page: RecordPage | undefined; !page || page.next !== undefined;) {
    page = await records.page(prefix, page?.next);
    for (const [key, text] of page.texts) texts.set(key, text);
  }
  return texts;
}

/** Reads any number of texts, with at most {@link MOST_KEYS} keys in a call. */
export async function inBatches(
  keys: readonly string[],
  readMany: (keys: readonly string[]) => Promise<Map<string, string>>,
): Promise<Map<string, string>> {
  if (keys.length > 0 && keys.length <= MOST_KEYS) return readMany(keys);
  const texts = new Map<string, string>();
  for (const some of portionsOf(keys, MOST_KEYS)) {
    for (const [key, text] of await readMany(some)) texts.set(key, text);
  }
  return texts;
}
