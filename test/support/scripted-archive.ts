import type { ArchivedDefinition, DefinitionArchive, Persistence } from 'nestjs-gatekeeper';
import { merge } from '../../lib/operate/definitions/archive/definition-archive.js';

/** An archive in memory, between whose calls a test can stand. */
export class ScriptedArchive implements DefinitionArchive {
  content: ReadonlyMap<string, ArchivedDefinition> = new Map();
  readonly calls = { load: 0, save: 0, write: 0, close: 0 };
  script?: (call: 'load' | 'save') => Promise<void> | void;

  async load(): Promise<ArchivedDefinition[]> {
    this.#refuseClosed();
    this.calls.load++;
    await this.script?.('load');
    return [...this.content.values()];
  }

  async save(definitions: readonly ArchivedDefinition[]): Promise<void> {
    this.#refuseClosed();
    this.calls.save++;
    await this.script?.('save');
    const { merged, changes } = merge(this.content, definitions);
    if (changes.length > 0) this.calls.write++;
    this.content = merged;
  }

  async close(): Promise<void> {
    this.calls.close++;
  }

  get persistence(): Persistence {
    return { kind: 'scripted', open: () => this };
  }

  #refuseClosed(): void {
    if (this.calls.close > 0) throw new Error('it is closed');
  }
}
