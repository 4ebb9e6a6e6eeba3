import * as fs from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ArchivedRun, type FileHistoryOptions, InvalidOptionsError, fileHistoryArchive } from 'nestjs-gatekeeper';
import { FileHistoryArchive } from '../../../../lib/operate/activity/archive/file/file-history-archive.js';
import type { Files } from '../../../../lib/operate/activity/archive/file/run-files.js';
import { DAY, NOON, archivedRun, numbered } from './archived-run.js';

const MIB = 1024 * 1024;

let parent: string;
let folder: string;

beforeEach(async () => {
  parent = await fs.mkdtemp(join(tmpdir(), 'runs-'));
  folder = join(parent, 'data', 'runs');
});
afterEach(() => fs.rm(parent, { recursive: true }));

const open = (options: Partial<FileHistoryOptions> = {}, instance = 'cafe') =>
  fileHistoryArchive({ folder, ...options }).open({ group: 'default', acquirer: 'app1', instance });
const names = async () => (await fs.readdir(folder)).toSorted();
const textOf = (name: string) => fs.readFile(join(folder, name), 'utf8');
const runsIn = async (name: string) =>
  (await textOf(name))
    .trimEnd()
    .split('\n')
    .map((line): ArchivedRun => JSON.parse(line));
const idsIn = async (name: string) => (await runsIn(name)).map(({ id }) => id);
const bytes = async () => {
  const sizes = (await names()).map(async (name) => (await fs.stat(join(folder, name))).size);
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
};

/** An archive whose disk fails in the middle of a text, as long as `isFull`. */
function onFullDisk() {
  const disk = { isFull: true };
  const half = async (path: string, text: string) => {
    await fs.appendFile(path, text.slice(0, text.length / 2));
    throw new Error('ENOSPC: no space left on device');
  };
  const opened = async (path: string, ...rest: [string, number]) => {
    const handle = await fs.open(path, ...rest);
    const write = handle.writeFile.bind(handle);
    handle.writeFile = (text) => (disk.isFull ? half(path, text as string) : write(text));
    return handle;
  };
  const files = { ...fs, open: opened as Files['open'] };
  const archive = new FileHistoryArchive({ folder, instance: 'cafe', keep: DAY, maxBytes: 8 * MIB }, files);
  return { disk, archive };
}

describe('fileHistoryArchive()', () => {
  it('writes one line of JSON for each run, in the order of their ends, into a file for its owner alone', async () => {
    const archive = open();
    const [one, two, three] = numbered(3, { stack: 'Error: disk full\n    at export', message: 'disk full' });
    await archive.append([one!, two!]);
    await archive.append([three!]);
    expect(await names()).toEqual(['runs-2023-11-14-cafe.jsonl']);
    expect(await runsIn('runs-2023-11-14-cafe.jsonl')).toEqual([one, two, three]);
    expect((await fs.stat(join(folder, 'runs-2023-11-14-cafe.jsonl'))).mode & 0o777).toBe(0o600);
  });

  it('touches nothing before it is used', async () => {
    const archive = open();
    await archive.removeOld!(NOON);
    await archive.close();
    expect(await fs.readdir(parent)).toEqual([]);
  });

  it('begins a new file at midnight UTC, also in the middle of a batch: the end of a run counts', async () => {
    const midnight = Date.UTC(2023, 10, 15);
    await open().append([archivedRun(1, { at: midnight - 1001 }), archivedRun(2, { at: midnight - 1000 })]);
    expect(await idsIn('runs-2023-11-14-cafe.jsonl')).toEqual(['cafe-1']);
    expect(await idsIn('runs-2023-11-15-cafe.jsonl')).toEqual(['cafe-2']);
  });

  it('waits at its end, and at the end of a file, until the disk has it', async () => {
    const synced: string[] = [];
    const opened = async (path: string, ...rest: [string, number]) => {
      const handle = await fs.open(path, ...rest);
      const sync = handle.sync.bind(handle);
      handle.sync = () => (synced.push(path.slice(folder.length + 1)), sync());
      return handle;
    };
    const files = { ...fs, open: opened as Files['open'] };
    const archive = new FileHistoryArchive({ folder, instance: 'cafe', keep: DAY, maxBytes: 8 * MIB }, files);
    await archive.append([archivedRun(1)]);
    expect(synced).toEqual([]);
    await archive.append([archivedRun(2, { at: NOON + DAY })]);
    expect(synced).toEqual(['runs-2023-11-14-cafe.jsonl']);
    await archive.close();
    expect(synced).toEqual(['runs-2023-11-14-cafe.jsonl', 'runs-2023-11-15-cafe.jsonl']);
  });

  it('keeps a hostile name on one line', async () => {
    const job = 'a\nb\r\nc\u0085d\u2028e\u2029f\u0000\ud800"}\n{"id":"forged"}';
    await open().append([archivedRun(1, { job })]);
    const text = await textOf('runs-2023-11-14-cafe.jsonl');
    expect(text.trimEnd()).not.toMatch(/[\n\r\u0085\u2028\u2029]/);
    expect(await runsIn('runs-2023-11-14-cafe.jsonl')).toEqual([archivedRun(1, { job })]);
  });

  it('gives each process a file of its own in a folder that they share', async () => {
    await Promise.all([open().append([archivedRun(1)]), open({}, 'beef').append([archivedRun(2)])]);
    expect(await names()).toEqual(['runs-2023-11-14-beef.jsonl', 'runs-2023-11-14-cafe.jsonl']);
  });

  it('removes the files of days that ended longer ago than it keeps, of all processes, and nothing else', async () => {
    const archive = open({ keep: '2d' });
    await archive.append([archivedRun(1), archivedRun(2, { at: NOON + DAY })]);
    await open({}, 'beef').append([archivedRun(3)]);
    await fs.writeFile(join(folder, 'runs-2001-01-01.txt'), 'foreign');
    const end = Date.UTC(2023, 10, 15) + 2 * DAY;
    expect(await archive.removeOld!(end - 1)).toBe(false);
    expect(await names()).toHaveLength(4);
    await archive.removeOld!(end);
    expect(await names()).toEqual(['runs-2001-01-01.txt', 'runs-2023-11-15-cafe.jsonl']);
  });

  it('never has more than its bytes: it removes the oldest runs, also those of the same day', async () => {
    const archive = open({ maxBytes: 8 * MIB });
    await open({}, 'beef').append([archivedRun(1, { at: NOON - DAY })]);
    const stack = 'x'.repeat(2048);
    for (let batch = 0; batch < 50; batch++) {
      await archive.append(numbered(100, { stack, at: NOON + batch }, 100 * batch));
      expect(await bytes()).toBeLessThanOrEqual(8 * MIB);
    }
    expect(await bytes()).toBeGreaterThan(6 * MIB);
    const all = (await Promise.all((await names()).map(runsIn))).flat();
    expect(Math.max(...all.map(({ at }) => at))).toBe(NOON + 49);
    expect(Math.min(...all.map(({ at }) => at))).toBeGreaterThan(NOON);
    expect(await names()).not.toContain('runs-2023-11-13-beef.jsonl');
  });

  it('removes what was changed first among the files of one day', async () => {
    const stack = 'x'.repeat(2048);
    for (const instance of ['beef', 'dead']) await open({}, instance).append(numbered(200, { stack }));
    await fs.utimes(join(folder, 'runs-2023-11-14-dead.jsonl'), 1, 1);
    const archive = open({ maxBytes: 8 * MIB });
    for (let batch = 0; batch < 17; batch++) await archive.append(numbered(200, { stack }, 200 * batch));
    expect(await names()).toContain('runs-2023-11-14-beef.jsonl');
    for (let batch = 17; batch < 19; batch++) await archive.append(numbered(200, { stack }, 200 * batch));
    expect(await names()).not.toContain('runs-2023-11-14-dead.jsonl');
  });

  it('leaves no broken line and no run twice when a write fails in the middle and is repeated', async () => {
    const { disk, archive } = onFullDisk();
    const midnight = Date.UTC(2023, 10, 15);
    const [before, after] = [archivedRun(1), archivedRun(2, { at: midnight })];
    disk.isFull = false;
    await archive.append([archivedRun(0)]);
    disk.isFull = true;
    for (let tries = 0; tries < 3; tries++) await expect(archive.append([before, after])).rejects.toThrow('ENOSPC');
    expect(await textOf('runs-2023-11-14-cafe.jsonl')).toMatch(/[^\n]$/);
    disk.isFull = false;
    await archive.append([before, after]);
    await archive.append([archivedRun(3)]);
    expect(await idsIn('runs-2023-11-14-cafe.jsonl')).toEqual(['cafe-0', 'cafe-1', 'cafe-3']);
    expect(await idsIn('runs-2023-11-15-cafe.jsonl')).toEqual(['cafe-2']);
  });

  it('leaves no part of a failed write behind when the repeated one no longer fits into its file', async () => {
    const { disk, archive } = onFullDisk();
    const stack = 'x'.repeat(2048);
    disk.isFull = false;
    await archive.append(numbered(400, { stack }));
    const batch = numbered(40, { stack }, 400);
    disk.isFull = true;
    await expect(archive.append(batch)).rejects.toThrow('ENOSPC');
    disk.isFull = false;
    await archive.append([...batch, ...numbered(200, { stack }, 440)]);
    expect(await runsIn('runs-2023-11-14-cafe.jsonl')).toHaveLength(400);
    expect(await runsIn('runs-2023-11-14-cafe.2.jsonl')).toHaveLength(240);
  });

  it('leaves no part of a failed write behind at its end', async () => {
    const { disk, archive } = onFullDisk();
    disk.isFull = false;
    await archive.append([archivedRun(1)]);
    disk.isFull = true;
    await expect(archive.append([archivedRun(2)])).rejects.toThrow('ENOSPC');
    await archive.close();
    expect(await idsIn('runs-2023-11-14-cafe.jsonl')).toEqual(['cafe-1']);
  });

  it('writes no run twice when its caller has given up waiting, and appends the batch again with later runs', async () => {
    const archive = open();
    const [one, two, three] = numbered(3) as [ArchivedRun, ArchivedRun, ArchivedRun];
    await archive.append([one]);
    await archive.append([one, two]);
    await archive.append([one, two, three]);
    expect(await runsIn('runs-2023-11-14-cafe.jsonl')).toEqual([one, two, three]);
  });

  it('writes no run twice when only the file of the second day failed', async () => {
    const archive = open();
    const midnight = Date.UTC(2023, 10, 15);
    // A folder in the place of the second file.
    await fs.mkdir(join(folder, 'runs-2023-11-15-cafe.jsonl'), { recursive: true });
    const batch = [archivedRun(1), archivedRun(2, { at: midnight })];
    await expect(archive.append(batch)).rejects.toThrow('EISDIR');
    await fs.rmdir(join(folder, 'runs-2023-11-15-cafe.jsonl'));
    await archive.append(batch);
    expect(await idsIn('runs-2023-11-14-cafe.jsonl')).toEqual(['cafe-1']);
    expect(await idsIn('runs-2023-11-15-cafe.jsonl')).toEqual(['cafe-2']);
  });

  it('goes on after another program has removed its files', async () => {
    const archive = open();
    await archive.append([archivedRun(1)]);
    await fs.rm(folder, { recursive: true });
    await archive.append([archivedRun(2)]);
    expect(await idsIn('runs-2023-11-14-cafe.jsonl')).toEqual(['cafe-2']);
  });

  it('keeps runs for up to ten years', () => {
    expect(fileHistoryArchive({ folder: 'x', keep: '3660d' })).toMatchObject({ kind: 'file' });
  });

  it.each<[unknown, RegExp]>([
    [{}, /folder: undefined is no path of a folder/],
    [{ folder: '' }, /folder: "" is no path/],
    [{ folder: 'x', keep: 'long' }, /keep: "long"/],
    [{ folder: 'x', keep: '3661d' }, /keep: "3661d" is longer than ten years: copy/],
    [{ folder: 'x', maxBytes: 1000 }, /maxBytes: 1000 is less than 8388608 bytes/],
    [{ folder: 'x', maxBytes: '1 GB' }, /maxBytes: "1 GB" is not a whole number/],
    [{ folder: 'x', keeps: 1 }, /keeps/],
  ])('refuses %j', (options, fault) => {
    expect(() => fileHistoryArchive(options as FileHistoryOptions)).toThrow(InvalidOptionsError);
    expect(() => fileHistoryArchive(options as FileHistoryOptions)).toThrow(fault);
  });
});
