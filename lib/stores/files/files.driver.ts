import { dirname, join } from 'node:path';
import { messageOf } from '../../core/decision/index.js';
import type { ArchiveDriver, RecordCollection, RecordPage } from '../../core/store/driver.js';
import { StoreUnavailableError, UnknownOutcomeError } from '../../core/store/store.errors.js';
import { type Files, withDraft } from './folder-lock.js';

/** Modes of new files and folders: only the application's user may read names, groups and reasons. */
const OWNER_ONLY = { file: 0o600, folder: 0o700 };
/** Texts on one page. Each page reads the names of all files. */
const PAGE = 500;

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
    /** ms to wait for the lock of another process. */
    private readonly patience: number,
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

  /** Pages follow the sorted paths: a file that is added or replaced moves no other file to another page. */
  async #page(prefix: string, after = ''): Promise<RecordPage> {
    const paths = (await this.#paths()).filter((path) => path > after).toSorted();
    const keys: string[] = [];
    let last = '';
    for (const path of paths) {
      if (keys.length === PAGE) return { texts: await this.#readMany(keys), next: last };
      const key = keyOf(path);
      if (key.startsWith(prefix)) keys.push(key);
      last = path;
    }
    return { texts: await this.#readMany(keys) };
  }

  /**
   * Paths of all texts, relative to the folder. Only folders of long keys are read: a volume has others of its own, such as
   * `lost+found`, and locks come and go.
   */
  async #paths(within = ''): Promise<string[]> {
    const folder = join(this.folder, within);
    // A folder of long keys is never removed: if one is missing, the listing fails.
    const entries = this.files.readdir(folder, { withFileTypes: true });
    const found: string[] = [];
    for (const entry of within === '' ? await entries.catch(ifMissing([])) : await entries) {
      const path = `${within}${entry.name}`;
      if (path.endsWith(TEXT)) found.push(path);
      else if (entry.isDirectory() && isPart(entry.name)) found.push(...(await this.#paths(`${path}/`)));
    }
    return found;
  }

  async #compareAndSet(key: string, expected: string | undefined, next: string): Promise<boolean> {
    if ((await this.#read(key)) !== expected) return false;
    const path = join(this.folder, pathOf(key));
    let isWritten = false;
    try {
      await this.files.mkdir(dirname(path), { recursive: true, mode: OWNER_ONLY.folder });
      const write = (draft: string) => this.#flushed(draft, 'wx', next);
      await withDraft(this.files, { lock: `${path}${LOCK}`, patience: this.patience, write }, async (draft) => {
        if ((await this.#read(key)) !== expected) return;
        await this.#renamed(draft, path, next);
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

  /** A network's file system may repeat a rename whose answer was lost, and then find no draft any more. */
  async #renamed(draft: string, path: string, next: string): Promise<void> {
    try {
      await this.files.rename(draft, path);
    } catch (cause) {
      // If it can't be read, nothing shows that the rename was made: the error of the rename is thrown.
      const text = await this.files.readFile(path, 'utf8').catch(() => undefined);
      if (text !== next) throw cause;
      throw new UnknownOutcomeError(`${path} may have been written: ${messageOf(cause)}`, { cause });
    }
  }

  async #flushed(path: string, flags: string, text?: string): Promise<void> {
    const handle = await this.files.open(path, flags, OWNER_ONLY.file);
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

/** Whether a folder is one of a long key: all parts of its path but the last have the full length. */
function isPart(name: string): boolean {
  return name.length === PART && /^[a-z0-9_%-]+$/.test(name);
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
