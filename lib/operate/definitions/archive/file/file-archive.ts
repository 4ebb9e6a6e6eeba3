import { dirname } from 'node:path';
import { SerialQueue } from '../../../../core/async/serial-queue.js';
import { CorruptArchiveError, type DefinitionArchive, byName, merge } from '../definition-archive.js';
import type { ArchivedDefinition } from '../../../../core/decision/index.js';
import { decodeArchive, encodeArchive } from '../archive.codec.js';
import { type Files, isMissing } from './files.js';
import { withFolder } from './folder-lock.js';
import { targetOf, writeWhole } from './write-whole.js';

interface Content {
  /** Changes with each write of the file. */
  readonly version: string;
  readonly definitions: ReadonlyMap<string, ArchivedDefinition>;
}

/** Definitions in one JSON file. Several processes of one host may share it, or several hosts in a shared folder. */
export class FileArchive implements DefinitionArchive {
  #content?: Content;
  /** Calls of this process run one after the other. */
  readonly #turns = new SerialQueue();

  constructor(
    private readonly path: string,
    private readonly files: Files,
  ) {}

  load(): Promise<ArchivedDefinition[]> {
    return this.#turns.run(async () => [...(await this.#readOrPutAside()).values()]);
  }

  save(definitions: readonly ArchivedDefinition[]): Promise<void> {
    return this.#turns.run(async () => {
      if (merge(await this.#readOrPutAside(), definitions).changes.length > 0) await this.#write(definitions);
    });
  }

  async close(): Promise<void> {
    await this.#turns.run(async () => undefined);
  }

  /** Reads the file again under the lock, because another process may have written it meanwhile. */
  async #write(definitions: readonly ArchivedDefinition[]): Promise<void> {
    const target = await targetOf(this.files, this.path);
    await this.files.mkdir(dirname(target), { recursive: true });
    await withFolder(this.files, lockOf(target), async () => {
      const { merged } = merge(await this.#read(), definitions);
      await writeWhole(this.files, target, lockOf(target), encodeArchive(merged.values()));
    });
  }

  /** Like {@link #read}, but puts a corrupt file aside. */
  async #readOrPutAside(): Promise<ReadonlyMap<string, ArchivedDefinition>> {
    try {
      return await this.#read();
    } catch (error) {
      const fault = error instanceof CorruptArchiveError ? await this.#putAside() : error;
      if (fault) throw fault;
      return this.#read();
    }
  }

  /** Puts a corrupt file aside. @returns the fault; undefined if another process was faster and the file is good now */
  async #putAside(): Promise<CorruptArchiveError | undefined> {
    const target = await targetOf(this.files, this.path);
    const aside = `${target}.corrupt-${new Date().toISOString().replaceAll(':', '')}`;
    return withFolder(this.files, lockOf(target), async () => {
      const fault = await this.#read().then(
        () => undefined,
        (error: unknown) => error,
      );
      if (!(fault instanceof CorruptArchiveError)) return undefined;
      await this.files.rename(target, aside);
      const message = `${fault.message}. It was put aside as ${aside}, and is no longer read`;
      return new CorruptArchiveError(message, { cause: fault });
    });
  }

  async #read(): Promise<ReadonlyMap<string, ArchivedDefinition>> {
    const version = await this.#version();
    if (this.#content?.version !== version) this.#content = { version, definitions: byName(await this.#decoded()) };
    return this.#content.definitions;
  }

  async #decoded(): Promise<ArchivedDefinition[]> {
    try {
      return decodeArchive(this.path, await this.files.readFile(this.path, 'utf8'));
    } catch (error) {
      if (isMissing(error)) return [];
      throw error;
    }
  }

  /** Identifies the file's content: every write creates a new file. */
  async #version(): Promise<string> {
    try {
      const { ino, mtimeMs, size } = await this.files.stat(this.path);
      return `${ino} ${mtimeMs} ${size}`;
    } catch (error) {
      if (isMissing(error)) return 'missing';
      throw error;
    }
  }
}

/** The lock is beside the real file, so that processes that use different links to it share the lock. */
function lockOf(target: string): string {
  return `${target}.lock`;
}
