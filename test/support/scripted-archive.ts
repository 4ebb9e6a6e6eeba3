import type { ArchivedDefinition, ArchiveStore, RecordCollection } from 'nestjs-gatekeeper';
import { decodeArchived, encodeArchived } from '../../lib/operate/definitions/archive/archive.codec.js';

const PREFIX = 'definition:';

/** The store of an archive in memory, between whose calls a test can stand. */
export class ScriptedArchive {
  /** Texts by key. */
  readonly texts = new Map<string, string>();
  readonly calls = { load: 0, look: 0, save: 0, write: 0, close: 0 };
  /** Runs before each call: a listing, a read of one text, a compare-and-set. */
  script?: (call: 'load' | 'look' | 'save') => Promise<void> | void;

  readonly #records: RecordCollection = {
    page: (prefix) =>
      this.#call('load', () => ({ texts: new Map([...this.texts].filter(([key]) => key.startsWith(prefix))) })),
    read: (key) => this.#call('look', () => this.texts.get(key)),
    readMany: (keys) => this.#call('look', () => new Map([...this.texts].filter(([key]) => keys.includes(key)))),
    compareAndSet: (key, expected, next) =>
      this.#call('save', () => {
        if (this.texts.get(key) !== expected) return false;
        this.calls.write++;
        this.texts.set(key, next);
        return true;
      }),
  };

  get persistence(): ArchiveStore {
    return { kind: 'scripted', open: () => ({ records: this.#records, close: async () => void this.calls.close++ }) };
  }

  /** The definitions in the archive, by name. */
  get content(): ReadonlyMap<string, ArchivedDefinition> {
    const found = new Map<string, ArchivedDefinition>();
    for (const [key, text] of this.texts) {
      const name = key.slice(PREFIX.length);
      const definition = key.startsWith(PREFIX) ? decodeArchived(name, text) : undefined;
      if (definition) found.set(name, definition);
    }
    return found;
  }

  set content(definitions: ReadonlyMap<string, ArchivedDefinition>) {
    this.texts.clear();
    for (const [name, definition] of definitions) this.texts.set(PREFIX + name, encodeArchived(definition));
  }

  async #call<T>(call: 'load' | 'look' | 'save', answer: () => T): Promise<T> {
    if (this.calls.close > 0) throw new Error('it is closed');
    this.calls[call]++;
    await this.script?.(call);
    return answer();
  }
}
