import { dirname, join, resolve } from 'node:path';
import { SerialExecutor } from '../../../../core/async/serial-executor.js';
import { CorruptArchiveError, type DefinitionArchive, byName, merge } from '../definition-archive.js';
import type { ArchivedDefinition } from '../../../../core/decision/index.js';
import { decodeArchive, encodeArchive } from '../archive.codec.js';
import { type Files, isMissing } from './files.js';
import { withFolder } from './folder-lock.js';

interface Content {
  /** Changes with each write of the file. */
  readonly version: string;
  readonly definitions: ReadonlyMap<string, ArchivedDefinition>;
}

/** Definitions in one JSON file. Several processes of one host may share it, or several hosts in a shared folder. */
export class FileArchive implements DefinitionArchive {
  #content?: Content;
  /** Calls of this process run one after the other. */
  readonly #turns = new SerialExecutor();

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

/** Mode of new files: only the application's user may read names, groups and reasons. */
const OWNER_ONLY = 0o600;

/**
 * Replaces the text of the file at `path`. A reader finds either the old or the new text, never a part, even after a
 * power failure.
 *
 * @param folder on the same file system, used by this writer only
 */
async function writeWhole(files: Files, path: string, folder: string, text: string): Promise<void> {
  const draft = join(folder, `draft-${Math.random().toString(36).slice(2)}`);
  await flushed(files, draft, 'wx', (handle) => handle.writeFile(text));
  await files.rename(draft, path);
  // A rename changes the folder, so the folder must be flushed to disk too. Windows can't do that.
  if (process.platform !== 'win32') await flushed(files, dirname(path), 'r');
}

type Handle = Awaited<ReturnType<Files['open']>>;

async function flushed(files: Files, path: string, flags: string, work?: (handle: Handle) => Promise<void>) {
  const handle = await files.open(path, flags, OWNER_ONLY);
  try {
    await work?.(handle);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/**
 * Follows symbolic links to the real path of a file, which need not exist yet. Without this, a rename would replace the
 * link, and the file behind it (on a mounted volume) would never get the text.
 *
 * @throws the error of the file system; ELOOP if links form a circle
 */
async function targetOf(files: Files, path: string): Promise<string> {
  try {
    return await files.realpath(path);
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
  const next = await linkAt(files, path);
  return next === undefined ? path : targetOf(files, resolve(dirname(path), next));
}

/** @returns undefined if there is no file, or if it is not a link */
async function linkAt(files: Files, path: string): Promise<string | undefined> {
  try {
    return await files.readlink(path);
  } catch (error) {
    if (isMissing(error) || (error as NodeJS.ErrnoException).code === 'EINVAL') return undefined;
    throw error;
  }
}
