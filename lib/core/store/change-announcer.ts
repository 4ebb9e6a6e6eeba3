import type { RecordChange } from './driver.js';
import type { PrefixWatches } from './prefix-watches.js';

/**
 * Turns "this key changed" into a change with the text. Reads a key at most once at a time. A key that changes during
 * the read, once or often, is read once more afterwards: also if the change came with its text. The read may have found an
 * older text, and the last text that watches hear must be the newest.
 */
export class ChangeAnnouncer {
  /** Keys that are read now, each with whether it changed again during the read. */
  readonly #reading = new Map<string, boolean>();

  constructor(
    readonly watches: PrefixWatches,
    readonly read: (key: string) => Promise<string | undefined>,
  ) {}

  /** Reports that anything may have changed. */
  anything(): void {
    this.watches.tell({});
  }

  /** Reports a key of an unproven message. It is not read: only the watches know whether that is needed. */
  unproven(key: string): void {
    this.watches.tell({ key, isUnproven: true });
  }

  /** Reports a changed key. @param text the new text, if it came with the change; otherwise it is read */
  async changed(key: string, text?: string): Promise<void> {
    if (!this.watches.wants(key)) return;
    if (text !== undefined) this.watches.tell({ key, text });
    if (this.#reading.has(key)) return void this.#reading.set(key, true);
    if (text !== undefined) return;
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
      return {}; // the text can't be read now, so the watches hear that anything may have changed
    }
  }
}
