import type { Context } from '../../core/context/context.js';
import { hashOf } from '../../core/decision/index.js';
import { JournalWriter } from '../../core/journals/journal-writer.js';
import type { OwnersChange } from './move-answers.js';
import { ownersChangeSchema } from './owners-change.js';

/** Longest part of a group's name in the name of its journal. */
const LONGEST_SLUG = 40;

/**
 * The changes of owner maps: a journal per allocation group, so that a busy group does not push out the entries of
 * another. The leader writes its own changes. A group whose owners stay the same writes nothing.
 */
export class MoveHistory {
  /** By the name of the journal. */
  readonly #journals = new Map<string, JournalWriter<OwnersChange>>();

  /** @param isOn whether this node's own changes are written */
  constructor(
    private readonly context: Context,
    private readonly isOn: boolean,
  ) {}

  /** Writes an entry. Does not wait for the store. */
  note(change: Omit<OwnersChange, 'node'>): void {
    if (this.isOn) this.#journalOf(change.group).append({ ...change, node: this.context.node });
  }

  /** Reads the last `limit` changes of a group, oldest first. @throws StoreUnavailableError */
  async read(group: string, limit: number): Promise<OwnersChange[]> {
    const entries = await this.#journalOf(group).read(limit);
    // Names of journals may collide.
    return entries.filter((entry) => entry.group === group);
  }

  /** Tries once to write the remaining entries. */
  async close(): Promise<void> {
    await Promise.all([...this.#journals.values()].map((journal) => journal.close()));
  }

  #journalOf(group: string): JournalWriter<OwnersChange> {
    const name = journalName(group);
    const known = this.#journals.get(name);
    if (known) return known;
    const journal = new JournalWriter(name, ownersChangeSchema, this.context);
    this.#journals.set(name, journal);
    return journal;
  }
}

/** Names of journals have only lower-case letters, digits and dashes. The hash tells groups with the same slug apart. */
function journalName(group: string): string {
  const slug = group.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
  return `moves-${slug.slice(0, LONGEST_SLUG)}-${hashOf(group).toString(16)}`;
}
