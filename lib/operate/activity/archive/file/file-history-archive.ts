import { join } from 'node:path';
import { SerialExecutor } from '../../../../core/async/serial-executor.js';
import { type ArchivedRun, type HistoryArchive, endOf } from '../history-archive.js';
import { type Files, dayOf, ifMissing, nameOf, runFilesIn } from './run-files.js';

/** Mode of new files: only the application's user may read names and errors. */
const OWNER_ONLY = 0o600;
/** A day's file is cut into parts of this share of all bytes, so that the oldest runs can be removed alone. */
const PARTS = 8;

interface Settings {
  readonly folder: string;
  readonly instance: string;
  /** ms */
  readonly keep: number;
  readonly maxBytes: number;
}

/**
 * Runs of one process in JSON lines, one file a day. No file stays open between two calls, so that other programs may
 * move or remove files at any time.
 *
 * A failed write may leave a part of a batch behind. The next call cuts it off first, so that no line is broken or there
 * twice. If the process dies meanwhile, the last line may be broken.
 */
export class FileHistoryArchive implements HistoryArchive {
  /** Calls run one after the other. */
  readonly #turns = new SerialExecutor();
  /** Sizes in bytes that files had before a write that failed, by their path. */
  readonly #torn = new Map<string, number>();
  /** Ids of the last batch's runs that are written. A batch is appended again if it failed or took too long. */
  #written: ReadonlySet<string> = new Set();
  /** Path of the file that was written last, and that the disk may not have yet. */
  #unsynced: string | undefined;
  /** The present part of the newest day. */
  #newest = { day: '', part: 1 };
  /** Bytes of all files in the folder, as far as this process knows. Undefined before it looked. */
  #bytes: number | undefined;

  constructor(
    private readonly settings: Settings,
    private readonly files: Files,
  ) {}

  append(entries: readonly ArchivedRun[]): Promise<void> {
    return this.#turns.run(async () => {
      const missing = entries.filter(({ id }) => !this.#written.has(id));
      const written = new Set(entries.map(({ id }) => id).filter((id) => this.#written.has(id)));
      this.#written = written;
      for (const [day, runs] of byDay(missing)) {
        await this.#write(day, runs.map(lineOf).join(''));
        for (const { id } of runs) written.add(id);
      }
    });
  }

  removeOld(now: number): Promise<boolean> {
    return this.#turns.run(async () => {
      await this.#remove(0, (end) => end + this.settings.keep <= now);
      return false;
    });
  }

  /** Makes sure that the last runs outlive a loss of power. */
  close(): Promise<void> {
    return this.#turns.run(async () => {
      await this.#cutTorn();
      await this.#sync();
    });
  }

  async #write(day: string, text: string): Promise<void> {
    const { folder, maxBytes } = this.settings;
    await this.files.mkdir(folder, { recursive: true });
    await this.#cutTorn();
    const size = Buffer.byteLength(text);
    if (this.#bytes === undefined || this.#bytes + size > maxBytes) await this.#remove(size);
    const path = await this.#pathFor(day, size);
    if (path !== this.#unsynced) await this.#sync();
    const handle = await this.files.open(path, 'a', OWNER_ONLY);
    try {
      this.#torn.set(path, (await handle.stat()).size);
      this.#unsynced = path;
      await handle.writeFile(text);
      this.#torn.delete(path);
    } finally {
      await handle.close();
    }
    this.#bytes! += size;
  }

  /** Cuts off what failed writes have left. The next text may go to another file. */
  async #cutTorn(): Promise<void> {
    for (const [path, before] of this.#torn) {
      const handle = await this.files.open(path, 'r+').catch(ifMissing(undefined));
      try {
        if (handle && (await handle.stat()).size > before) await handle.truncate(before);
      } finally {
        await handle?.close();
      }
      this.#torn.delete(path);
    }
  }

  /** Waits until the disk has the file that was written last. */
  async #sync(): Promise<void> {
    if (this.#unsynced === undefined) return;
    const handle = await this.files.open(this.#unsynced, 'r+').catch(ifMissing(undefined));
    try {
      await handle?.sync();
    } finally {
      await handle?.close();
    }
    this.#unsynced = undefined;
  }

  /** The file for a text of `size` bytes: the present part of its day, or the next one. */
  async #pathFor(day: string, size: number): Promise<string> {
    const { folder, instance, maxBytes } = this.settings;
    if (day > this.#newest.day) this.#newest = { day, part: 1 };
    // Runs of an earlier day are few: they ended before midnight, and come late.
    for (let part = day === this.#newest.day ? this.#newest.part : 1; ; part++) {
      const path = join(folder, nameOf(day, instance, part));
      const there = await this.files.stat(path).catch(ifMissing(undefined));
      if (there && there.size + size > maxBytes / PARTS) continue;
      if (day === this.#newest.day) this.#newest = { day, part };
      return path;
    }
  }

  /** Removes files that are too old, and then the oldest ones until there is room for `size` bytes. */
  async #remove(size: number, isOld: (end: number) => boolean = () => false): Promise<void> {
    const { folder, maxBytes } = this.settings;
    const found = await runFilesIn(folder, this.files);
    let bytes = found.reduce((sum, file) => sum + file.size, 0);
    for (const file of found) {
      if (!isOld(file.end) && bytes + size <= maxBytes) continue;
      await this.files.rm(file.path, { force: true });
      bytes -= file.size;
    }
    this.#bytes = bytes;
  }
}

function byDay(runs: readonly ArchivedRun[]): Map<string, ArchivedRun[]> {
  const days = new Map<string, ArchivedRun[]>();
  for (const run of runs) {
    const day = dayOf(endOf(run));
    const others = days.get(day);
    if (others) others.push(run);
    else days.set(day, [run]);
  }
  return days;
}

/** Escapes also the line ends of Unicode, which JSON allows: some programs would begin a new line there. */
function lineOf(run: ArchivedRun): string {
  const escaped = (end: string) => `\\u${end.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return `${JSON.stringify(run).replace(/[\u0085\u2028\u2029]/g, escaped)}\n`;
}
