import { Slices } from '../async/slices.js';
import type { Context } from '../context/context.js';
import { answerWithin } from '../store/answer-within.js';
import type { RecordPage } from '../store/index.js';

/** Factor of `callTimeout`: an answer with many records may be large, so it gets more time than one record. */
export const LIST_FACTOR = 5;

/** Reads all texts whose keys begin with `prefix`, page by page. @throws StoreUnavailableError */
export async function* recordPages(
  { store, timers, timing }: Context,
  prefix: string,
): AsyncGenerator<RecordPage['texts'], void> {
  const patience = LIST_FACTOR * timing.callTimeout;
  for (let page: RecordPage | undefined; !page || page.next !== undefined;) {
    const after = page?.next;
    page = await answerWithin(timers, patience, 'list the records', () => store.page(prefix, after));
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
export async function readRecord({ store, timers, timing }: Context, key: string): Promise<Map<string, string>> {
  const text = await answerWithin(timers, timing.callTimeout, 'read a record', () => store.read(key));
  return new Map(text === undefined ? [] : [[key, text]]);
}
