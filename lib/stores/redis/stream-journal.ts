import type { Journal } from '../../core/store/driver.js';
import { portionsOf } from '../../core/store/text-batches.js';
import type { Calls } from './calls.js';
import { APPEND } from './scripts.js';

/** Largest number of texts: the same as in the other stores. */
const CAPACITY = 10_000;
/** Largest number of texts per call. */
const MOST_AT_ONCE = 500;

/** A journal in a stream. Its entries have ids, so that pages stay apart while others append. */
export class StreamJournal implements Journal {
  constructor(
    private readonly key: string,
    private readonly calls: Calls,
  ) {}

  async append(texts: readonly string[]): Promise<void> {
    for (const some of portionsOf(texts, MOST_AT_ONCE)) {
      await this.calls.write(APPEND, [this.key], [String(CAPACITY), ...some]);
    }
  }

  /** Reads from the newest text on. */
  async read(limit: number): Promise<string[]> {
    const texts: string[] = [];
    let last = '+';
    do {
      const most = Math.max(0, Math.min(MOST_AT_ONCE, limit - texts.length));
      const page = await this.#page(last, most);
      for (const [, [, text]] of page) texts.push(text);
      if (page.length < most || most === 0) break;
      last = `(${page.at(-1)![0]}`;
    } while (texts.length < limit);
    return texts.toReversed();
  }

  async #page(last: string, most: number): Promise<StreamEntry[]> {
    const count = String(Math.max(most, 1));
    const page = (await this.calls.read(this.key, ['xrevrange', this.key, last, '-', 'COUNT', count])) as StreamEntry[];
    return page.slice(0, most);
  }
}

type StreamEntry = [id: string, fields: [name: string, text: string]];
