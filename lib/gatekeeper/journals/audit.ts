import type { DefinitionChange, SemaphoreDefinition, StoredPermit } from '../../semaphores/index.js';
import { type Context, type NodeIdentity, timeOf } from '../context/context.js';
import { auditEntrySchema } from './entry-schemas.js';
import { JournalWriter } from './journal-writer.js';

export type AuditAction = DefinitionChange['kind'] | 'revoke' | 'restore';

/** A change by a person or a program, as the audit log keeps it. */
export interface AuditEntry {
  /** Cluster time in ms. */
  readonly at: number;
  readonly action: AuditAction;
  readonly semaphore: string;
  readonly by: string;
  readonly reason?: string;
  /** Through which node. */
  readonly node: NodeIdentity;
  /** The one that the change made. */
  readonly revision?: number;
  readonly from?: SemaphoreDefinition;
  readonly to?: SemaphoreDefinition;
  /** What was revoked. */
  readonly permit?: StoredPermit;
}

/** Who changed what, on all nodes. */
export class Audit {
  readonly #journal: JournalWriter<AuditEntry>;

  constructor(private readonly context: Context) {
    this.#journal = new JournalWriter('audit', auditEntrySchema, context);
  }

  note(entry: Omit<AuditEntry, 'at' | 'node'>): void {
    const noted: AuditEntry = { at: timeOf(this.context), ...entry, node: this.context.node };
    this.#journal.note(noted);
    this.context.events.next({ type: 'audited', semaphore: entry.semaphore, entry: noted });
  }

  /** How many entries the latest reading left out because they can't be read. */
  get unreadable(): number {
    return this.#journal.unreadable;
  }

  /** The last `limit` changes, oldest first. @throws StoreUnavailableError */
  read(limit: number): Promise<AuditEntry[]> {
    return this.#journal.read(limit);
  }

  close(): Promise<void> {
    return this.#journal.close();
  }
}
