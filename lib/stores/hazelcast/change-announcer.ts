import type { RecordChange } from '../store.js';
import type { PrefixWatches } from '../prefix-watches.js';

/**
 * Turns "this key changed" into a change with the text. At most one read per key is under way: a key that changes
 * meanwhile is read once more afterwards, however often it changed.
 */
export class ChangeAnnouncer {
  /** Keys being read; true when they changed again since. */
  readonly #reading = new Map<string, boolean>();

  constructor(
    readonly watches: PrefixWatches,
    readonly read: (key: string) => Promise<string | undefined>,
  ) {}

  /** Anything may have changed. */
  anything(): void {
    this.watches.tell({});
  }

  /** @param text as the change brought it; unless given it is read */
  async changed(key: string, text?: string): Promise<void> {
    if (!this.watches.wants(key)) return;
    if (text !== undefined) return this.watches.tell({ key, text });
    if (this.#reading.has(key)) return void this.#reading.set(key, true);
    try {
      do {
        this.#reading.set(key, false);
        this.watches.tell(await this.#changeOf(key));
      } while (this.#reading.get(key));
    } finally {
      this.#reading.delete(key);
    }
  }

  async #changeOf(key: string): Promise<RecordChange> {
    try {
      const text = await this.read(key);
      return text === undefined ? { key } : { key, text };
    } catch {
      return {}; // the text can't be read now: watches hear that anything may have changed
    }
  }
}
