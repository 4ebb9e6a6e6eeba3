import { Slices } from '../async/slices.js';
import type { Context } from '../context/context.js';
import { answerWithin } from '../stores/answer-within.js';
import { KEY_PREFIX } from '../decision/record.js';
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

/** Every record's text by its key. @throws StoreUnavailableError */
export async function listRecords(context: Context): Promise<Map<string, string>> {
  const slices = Slices.of(context.nodeClock);
  const texts = new Map<string, string>();
  for await (const page of recordPages(context, KEY_PREFIX)) {
    for (const [key, text] of page) {
      if (slices.isOver) await slices.turn();
      texts.set(key, text);
    }
  }
  return texts;
}

/** The same of one semaphore alone; empty when it has none. @throws StoreUnavailableError */
export async function readRecord({ store, timers, timing }: Context, name: string): Promise<Map<string, string>> {
  const key = KEY_PREFIX + name;
  const text = await answerWithin(timers, timing.callTimeout, 'read a record', () => store.read(key));
  return new Map(text === undefined ? [] : [[key, text]]);
}
