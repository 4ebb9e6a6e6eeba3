import type { Subscription } from 'rxjs';
import type { CancelTimer } from '../../../core/async/node-clock.js';
import {
  type SemaphoreRecord,
  type ArchivedDefinition,
  decodeRecord,
  omitUndefined,
} from '../../../core/decision/index.js';
import { isUnreadable } from '../../../core/cell/known-record.js';
import type { Context } from '../../../core/context/context.js';
import type { GatekeeperEvent } from '../../../core/context/events.js';
import type { DefinitionArchive } from './definition-archive.js';

/** ms for which changes are collected, so that a migration of hundreds of semaphores needs only a few writes. */
const GATHERING = 250;

const ARCHIVED: ReadonlySet<GatekeeperEvent['type']> = new Set(['changed', 'reinstated', 'restored', 'audited']);

/**
 * Archives definitions that people changed on any node, so that they outlive the cluster's memory. Saves them after
 * each change that this node hears of, at each sweep, and when this node closes. Unchanged definitions are in code
 * anyway.
 */
export class Archivist {
  readonly #subscription: Subscription;
  #cancelTimer?: CancelTimer;
  #isClosed = false;
  /** The last save that began. */
  #saving?: Promise<boolean>;
  /** The save that waits for it. */
  #next?: Promise<void>;
  /** Definitions that no known record has, until they are saved: from hints about other records, and removed ones. */
  readonly #collected = new Map<string, ArchivedDefinition>();

  constructor(
    private readonly archive: DefinitionArchive,
    private readonly context: Context,
    private readonly records: {
      /** Records that this node knows, by name: those that code or an operator defined. */
      readonly known: () => ReadonlyMap<string, SemaphoreRecord>;
      /** Whether nothing is left of a name, as far as this node knows. */
      readonly isGone: (name: string) => boolean;
    },
  ) {
    this.#subscription = context.events.subscribe((event) => this.#onEvent(event));
  }

  /** Saves new definitions, if any. Never throws: failures are events, and the next sweep tries again. */
  save(): Promise<void> {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    // A sweep that was under way ends after the close.
    if (this.#isClosed) return Promise.resolve();
    // One save at a time. Callers that come meanwhile share the next one: it includes all that they know.
    this.#next ??= this.#saveNext();
    return this.#next;
  }

  /** Notes the definition in a hint about a record that this node does not know. */
  observe(name: string, text: string): void {
    try {
      const entries = entriesOf(name, decodeRecord(name, text));
      for (const entry of entries) this.#collect(entry);
      if (entries.length > 0) this.#saveSoon();
    } catch (error) {
      // A node that uses the record reports it.
      if (!isUnreadable(error)) throw error;
    }
  }

  async close(): Promise<void> {
    this.#subscription.unsubscribe();
    await this.save();
    this.#isClosed = true;
    await this.archive.close();
  }

  async #saveNext(): Promise<void> {
    await this.#saving;
    this.#next = undefined;
    const collected = new Map(this.#collected);
    const latest = new Map(collected);
    for (const [name, record] of this.records.known()) {
      for (const entry of entriesOf(name, record)) latest.set(name, later(entry, latest.get(name)));
    }
    this.#saving = this.archive.save([...latest.values()]);
    if (await this.#saving) this.#forget(collected);
  }

  #onEvent(event: GatekeeperEvent): void {
    if (!ARCHIVED.has(event.type)) return;
    // A name in a shard leaves nothing behind that says that its definition was removed.
    if (event.type === 'changed' && this.records.isGone(event.semaphore)) {
      this.#collect({ name: event.semaphore, revision: event.revision });
    }
    this.#saveSoon();
  }

  #collect(entry: ArchivedDefinition): void {
    this.#collected.set(entry.name, later(entry, this.#collected.get(entry.name)));
  }

  /** Forgets saved entries, unless a newer one was collected meanwhile. */
  #forget(saved: ReadonlyMap<string, ArchivedDefinition>): void {
    for (const [name, entry] of saved) {
      if (this.#collected.get(name) === entry) this.#collected.delete(name);
    }
  }

  #saveSoon(): void {
    this.#cancelTimer ??= this.context.nodeClock.schedule(() => void this.save(), GATHERING);
  }
}

/** The newer of two entries of one name, because an archive has one entry per name. */
function later(entry: ArchivedDefinition, other: ArchivedDefinition | undefined): ArchivedDefinition {
  return other && other.revision > entry.revision ? other : entry;
}

function entriesOf(name: string, record: SemaphoreRecord): ArchivedDefinition[] {
  const { revision, definition, source, fingerprint, change, pause } = record;
  // Revision 0 is a pending record of a name that code defines. Revision 1 without a change is as code defines it.
  if (!change && revision <= 1) return [];
  return [{ name, revision, ...omitUndefined({ definition, source, fingerprint, change, pause }) }];
}
