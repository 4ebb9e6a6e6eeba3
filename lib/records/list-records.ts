import { Slices } from '../async/slices.js';
import type { Context } from '../context/context.js';
import { answerWithin } from '../stores/answer-within.js';
import type { RecordPage } from '../stores/index.js';

/** One answer has many records, and may be large: it gets more time than a call for one of them. */
export const LIST_FACTOR = 5;

/** The texts below a prefix, page by page. @throws StoreUnavailableError */
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

/** Every text below a prefix by its key. @throws StoreUnavailableError */
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

/** The same of one key alone; empty when the store has none. @throws StoreUnavailableError */
export async function readRecord({ store, timers, timing }: Context, key: string): Promise<Map<string, string>> {
  const text = await answerWithin(timers, timing.callTimeout, 'read a record', () => store.read(key));
  return new Map(text === undefined ? [] : [[key, text]]);
}
