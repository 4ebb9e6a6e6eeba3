import { type Context, timeOf } from '../../core/context/context.js';
import type { AuditEntry } from '../../core/context/answers.js';
import { asMade, settledChanges } from './settled-changes.js';
import { auditEntrySchema } from './entry-schemas.js';
import { forEachLimit } from '../../core/async/for-each-limit.js';
import { UnknownOutcomeError } from '../../core/store/index.js';
import { JournalWriter } from '../../core/journals/journal-writer.js';

/** The audit log of all nodes: changes by people and by programs. */
export class Audit {
  readonly #journal: JournalWriter<AuditEntry>;

  /** @param lastChange returns the id of the last change of a semaphore, as its record has it */
  constructor(
    private readonly context: Context,
    private readonly lastChange: (semaphore: string) => Promise<string | undefined>,
  ) {
    this.#journal = new JournalWriter('audit', auditEntrySchema, context);
  }

  /**
   * Writes an entry with the present time and this node as its source, and with an id unless it has one. Does not wait
   * for the store.
   */
  note(entry: Omit<AuditEntry, 'at' | 'node'>): void {
    const noted: AuditEntry = {
      id: this.context.random.id(),
      at: timeOf(this.context),
      ...entry,
      node: this.context.node,
    };
    this.#journal.append(noted);
    this.context.events.next({ type: 'audited', semaphore: entry.semaphore, entry: noted });
  }

  /**
   * Makes a change that its caller notes afterwards. If its answer is lost, notes it with an unknown outcome: a second call
   * may find the change made, and has no entry for it.
   *
   * @param entry returns the entry of the change
   * @throws the error of `change`
   */
  async evenIfUnknown<T>(entry: () => Omit<AuditEntry, 'at' | 'node'>, change: () => Promise<T>): Promise<T> {
    try {
      return await change();
    } catch (error) {
      if (error instanceof UnknownOutcomeError) this.note({ ...entry(), outcome: 'unknown' });
      throw error;
    }
  }

  /** Number of entries that the latest reading left out because they can't be read. */
  get unreadable(): number {
    return this.#journal.unreadable;
  }

  /**
   * Reads the last `limit` changes, oldest first. Finds out about changes whose answer was lost: from later changes, or
   * from the record. What can't be found out stays `unknown`.
   *
   * @throws StoreUnavailableError
   */
  async read(limit: number): Promise<AuditEntry[]> {
    const { settled, open } = settledChanges(await this.#journal.read(limit));
    if (open.length === 0) return settled;
    const made = new Set<string | undefined>();
    await forEachLimit(open, async ({ semaphore }) => void made.add(await this.#lastChangeOf(semaphore)));
    return settled.map((entry) => (entry.outcome === 'unknown' && made.has(entry.id) ? asMade(entry) : entry));
  }

  /**
   * Reads all of the log, whatever its capacity is, with the entries that this node has not written yet. Like
   * {@link read}.
   */
  async whole(): Promise<AuditEntry[]> {
    await this.#journal.flush();
    return this.read(Number.MAX_SAFE_INTEGER);
  }

  /** A record that can't be read decides nothing, and must not hide the log. */
  async #lastChangeOf(semaphore: string): Promise<string | undefined> {
    try {
      return await this.lastChange(semaphore);
    } catch (error) {
      this.context.events.next({ type: 'problem', semaphore, action: 'find out about its last change', error });
      return undefined;
    }
  }

  /** Writes what is not written yet. */
  close(): Promise<void> {
    return this.#journal.close();
  }
}
