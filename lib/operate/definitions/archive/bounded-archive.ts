import { type ArchiveFailure, BoundedCalls } from '../../archives/bounded-calls.js';
import type { Archived } from '../../../core/permits/declared/declared-definitions.js';
import type { Context } from '../../../core/context/context.js';
import { CorruptArchiveError, type DefinitionArchive, type Persistence } from './definition-archive.js';
import type { ArchivedDefinition } from '../../../core/decision/index.js';

/** Limits the time of an archive's calls, and reports each failure as one event as long as it lasts. */
export class BoundedArchive {
  readonly #archive: DefinitionArchive;
  readonly #calls: BoundedCalls;
  #loading?: Promise<Archived | undefined>;

  constructor(persistence: Persistence, context: Context) {
    this.#archive = persistence.open();
    this.#calls = new BoundedCalls(`archive (${persistence.kind})`, context);
  }

  /** Actions that keep failing. */
  get failures(): readonly ArchiveFailure[] {
    return this.#calls.failures;
  }

  /**
   * Reads the archive once, before this node writes any definition into the store.
   *
   * @returns undefined while the archive can't be read; then paused jobs are unknown
   */
  async archived(): Promise<Archived | undefined> {
    this.#loading ??= this.#load();
    const archived = await this.#loading;
    if (!archived) this.#loading = undefined;
    return archived;
  }

  /** Never rejects. @returns whether the archive has saved all of them */
  save(definitions: readonly ArchivedDefinition[]): Promise<boolean> {
    const saving = this.#calls.run('save definitions', () => this.#archive.save(definitions));
    return saving.then(
      () => true,
      () => false,
    );
  }

  async close(): Promise<void> {
    await this.#calls.try('close', () => this.#archive.close(), { isLast: true });
  }

  async #load(): Promise<Archived | undefined> {
    const definitions = await this.#calls.try('load definitions', () => this.#loadRest());
    return definitions && new Map(definitions.map((each) => [each.name, each]));
  }

  /** Loads twice if needed: the first call puts corrupt definitions aside, and the second returns the readable ones. */
  async #loadRest(): Promise<ArchivedDefinition[]> {
    try {
      return await this.#archive.load();
    } catch (error) {
      if (!(error instanceof CorruptArchiveError)) throw error;
      this.#calls.report('load definitions', error);
      return this.#archive.load();
    }
  }
}
