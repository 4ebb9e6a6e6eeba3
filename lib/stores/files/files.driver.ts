import { dirname, join } from 'node:path';
import { messageOf } from '../../core/decision/index.js';
import type { ArchiveDriver, RecordCollection, RecordPage } from '../../core/store/driver.js';
import { StoreUnavailableError, UnknownOutcomeError } from '../../core/store/store.errors.js';
import { type Files, withFolder } from './folder-lock.js';

/** Mode of new files: only the application's user may read names, groups and reasons. */
const OWNER_ONLY = 0o600;
/** Texts on one page. */
const PAGE = 100;

/**
 * Texts in the files of a folder, one file each. Several processes of one host may share it, or several hosts in a shared
 * folder. A writer replaces a file as a whole, in the lock of this file, so a reader needs no lock.
 */
export class FilesDriver implements ArchiveDriver {
  readonly records: RecordCollection = {
    read: (key) => unlessFailed(() => this.#read(key)),
    readMany: (keys) => unlessFailed(() => this.#readMany(keys)),
    page: (prefix, after) => unlessFailed(() => this.#page(prefix, after)),
    compareAndSet: (key, expected, next) => unlessFailed(() => this.#compareAndSet(key, expected, next)),
  };

  constructor(
    private readonly folder: string,
    private readonly files: Files,
  ) {}

  /** No file stays open between two calls. */
  async close(): Promise<void> {}

  async #read(key: string): Promise<string | undefined> {
    return this.files.readFile(join(this.folder, pathOf(key)), 'utf8').catch(ifMissing(undefined));
  }

  async #readMany(keys: readonly string[]): Promise<Map<string, string>> {
    const texts = await Promise.all(keys.map(async (key) => [key, await this.#read(key)] as const));
    return new Map(texts.filter((each): each is readonly [string, string] => each[1] !== undefined));
  }

  /** In the order of the paths, which others do not move. */
  async #page(prefix: string, after = ''): Promise<RecordPage> {
    const paths = await this.#paths().catch(ifMissing([]));
    const keys = new Map(paths.toSorted().map((path) => [path, keyOf(path)]));
    const found = [...keys].filter(([path, key]) => path > after && key.startsWith(prefix));
    const texts = await this.#readMany(found.slice(0, PAGE).map(([, key]) => key));
    return { texts, ...(found.length > PAGE && { next: found[PAGE - 1]![0] }) };
  }

  /** Paths of all texts, relative to the folder. Locks come and go, so their folders are left out. */
  async #paths(within = ''): Promise<string[]> {
    const found: string[] = [];
    for (const entry of await this.files.readdir(join(this.folder, within), { withFileTypes: true })) {
      const path = `${within}${entry.name}`;
      if (path.endsWith(TEXT)) found.push(path);
      else if (entry.isDirectory() && !path.endsWith(LOCK)) found.push(...(await this.#paths(`${path}/`)));
    }
    return found;
  }

  async #compareAndSet(key: string, expected: string | undefined, next: string): Promise<boolean> {
    if ((await this.#read(key)) !== expected) return false;
    const path = join(this.folder, pathOf(key));
    let isWritten = false;
    try {
      await this.files.mkdir(dirname(path), { recursive: true });
      await withFolder(this.files, `${path}${LOCK}`, async (folder) => {
        // Before the comparison. A process that slept loses its lock, and with it the draft: then the rename fails.
        const draft = join(folder, `draft-${Math.random().toString(36).slice(2)}`);
        await this.#flushed(draft, 'wx', next);
        if ((await this.#read(key)) !== expected) return;
        await this.files.rename(draft, path);
        isWritten = true;
        // A rename changes the folder, so the folder must be flushed to disk too. Windows can't do that.
        if (process.platform !== 'win32') await this.#flushed(dirname(path), 'r');
      });
    } catch (cause) {
      if (!isWritten) throw cause;
      throw new UnknownOutcomeError(`${path} may not outlive a loss of power: ${messageOf(cause)}`, { cause });
    }
    return isWritten;
  }

  async #flushed(path: string, flags: string, text?: string): Promise<void> {
    const handle = await this.files.open(path, flags, OWNER_ONLY);
    try {
      if (text !== undefined) await handle.writeFile(text);
      await handle.sync();
    } finally {
      await handle.close();
    }
  }
}

const TEXT = '.json';
const LOCK = '.lock';
/** Longest part of a path, in characters: many file systems allow 255 bytes. */
const PART = 200;

/**
 * The path of the file of a key, relative to the folder. Only characters that all file systems keep, and in one case only:
 * some take "A" for "a". No part of it but the end has a dot, so it is never that of another key's folder, or of a lock.
 */
function pathOf(key: string): string {
  const escaped = key.replaceAll(/[^a-z0-9_-]/g, (unit) => {
    const code = unit.charCodeAt(0).toString(16);
    return code.length > 2 ? `%u${code.padStart(4, '0')}` : `%${code.padStart(2, '0')}`;
  });
  return `${(escaped.match(new RegExp(`.{1,${PART}}`, 'g')) ?? []).join('/')}${TEXT}`;
}

/** Files of others have a key, too, which no call asks for. */
function keyOf(path: string): string {
  const escaped = path.slice(0, -TEXT.length).replaceAll('/', '');
  return escaped.replaceAll(/%(?:u([0-9a-f]{4})|([0-9a-f]{2}))/g, (_, long, short) => unitOf(long ?? short));
}

function unitOf(code: string): string {
  return String.fromCharCode(Number.parseInt(code, 16));
}

/** Returns `value` in place of a file or folder that is missing. */
function ifMissing<T>(value: T): (error: NodeJS.ErrnoException) => T {
  return (error) => {
    if (error.code === 'ENOENT') return value;
    throw error;
  };
}

/** Maps errors of the file system. A write that has changed something maps its own. */
async function unlessFailed<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (cause) {
    if (cause instanceof UnknownOutcomeError) throw cause;
    throw new StoreUnavailableError(messageOf(cause), { cause });
  }
}
