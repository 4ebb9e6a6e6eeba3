import { type Context, timeOf } from '../context/context.js';
import type { AuditEntry } from '../context/audit-entry.js';
import { auditEntrySchema } from './entry-schemas.js';
import { JournalWriter } from './journal-writer.js';

/** The audit log of all nodes: changes by people and by programs. */
export class Audit {
  readonly #journal: JournalWriter<AuditEntry>;

  constructor(private readonly context: Context) {
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
    this.#journal.note(noted);
    this.context.events.next({ type: 'audited', semaphore: entry.semaphore, entry: noted });
  }

  /** Number of entries that the latest reading left out because they can't be read. */
  get unreadable(): number {
    return this.#journal.unreadable;
  }

  /** Reads the last `limit` changes, oldest first. @throws StoreUnavailableError */
  read(limit: number): Promise<AuditEntry[]> {
    return this.#journal.read(limit);
  }

  /** Writes what is not written yet. */
  close(): Promise<void> {
    return this.#journal.close();
  }
}
