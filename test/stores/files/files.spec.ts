import * as fs from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Driver, InvalidOptionsError, StoreUnavailableError, UnknownOutcomeError, files } from 'nestjs-gatekeeper';
import { FilesDriver } from '../../../lib/stores/files/files.driver.js';
import type { Files } from '../../../lib/stores/files/folder-lock.js';
import { describeListingContract } from '../../../lib/testing/contract/listing.contract.js';
import { StoreClients } from '../../../lib/testing/contract/store-clients.js';
import { ContractTests } from '../../../lib/testing/contract/test-runner.js';
import { describeTextsContract } from '../../../lib/testing/contract/texts.contract.js';
import { runner } from '../../contract/on-jest.js';
import { until } from '../../support/apps.js';

/** ms to wait for a lock. */
const PATIENCE = 5000;

let folder: string;
let path: string;

beforeEach(async () => {
  folder = await fs.mkdtemp(join(tmpdir(), 'files-'));
  path = join(folder, 'data');
});
afterEach(() => fs.rm(folder, { recursive: true }));

const inFolder = async () => (await fs.readdir(path)).toSorted();
const opened = () => files(path).open().records;

describe('files()', () => {
  const clients = new StoreClients(async () => {
    const shared = await fs.mkdtemp(join(tmpdir(), 'files-contract-'));
    const health = () => ({ connected: true, members: 1, quorum: 0 });
    return {
      // The two parts of the contract that an archive needs ask for nothing else of a driver.
      open: () => Object.assign(files(shared).open(), { health }) as Partial<Driver> as Driver,
      stop: () => fs.rm(shared, { recursive: true }),
    };
  });
  const tests = new ContractTests(runner);
  runner.before(clients.start);
  runner.after(clients.stop);
  describeTextsContract(tests, clients, ['records']);
  describeListingContract(tests, clients);
});

describe('A text of files()', () => {
  it('is the content of a file with the name of its key, and nothing is beside it', async () => {
    await opened().compareAndSet('definition:Jobs.export', undefined, '{"v":1}');
    expect(await inFolder()).toEqual(['definition%3a%4aobs%2eexport.json']);
    expect(await fs.readFile(join(path, 'definition%3a%4aobs%2eexport.json'), 'utf8')).toBe('{"v":1}');
  });

  it('is in a folder of its key where the key is long, with a name that each file system takes', async () => {
    const keys = ['a'.repeat(200), 'a'.repeat(201), 'Ä'.repeat(200), `${'a'.repeat(195)}.json`];
    for (const key of keys) await opened().compareAndSet(key, undefined, key);
    expect(await opened().readMany(keys)).toEqual(new Map(keys.map((key) => [key, key])));
    expect([...(await opened().page('')).texts.keys()].toSorted()).toEqual(keys.toSorted());
  });

  it('may only be read by its owner', async () => {
    await opened().compareAndSet('a', undefined, '1');
    await fs.chmod(join(path, 'a.json'), 0o644);
    await opened().compareAndSet('a', '1', '2');
    expect((await fs.stat(join(path, 'a.json'))).mode & 0o777).toBe(0o600);
  });

  it('goes to the folder behind a link, and the link stays', async () => {
    await fs.mkdir(join(folder, 'volume'));
    await fs.symlink('volume', path);
    await opened().compareAndSet('a', undefined, '1');
    expect((await fs.lstat(path)).isSymbolicLink()).toBe(true);
    expect(await fs.readdir(join(folder, 'volume'))).toEqual(['a.json']);
  });

  it('is not looked for by a write, nor written, where the folder is missing', async () => {
    expect(await opened().read('a')).toBeUndefined();
    expect(await opened().page('')).toEqual({ texts: new Map() });
    expect(await opened().compareAndSet('a', '1', '2')).toBe(false);
    expect(await fs.readdir(folder)).toEqual([]);
  });

  it('is written in spite of the lock of a process that died over it, with its half-written text', async () => {
    await fs.mkdir(join(path, 'a.json.lock'), { recursive: true });
    await fs.writeFile(join(path, 'a.json.lock', 'draft-x'), '{"v":1,"defi');
    expect(await opened().page('')).toEqual({ texts: new Map() });
    expect(await opened().compareAndSet('a', undefined, '1')).toBe(true);
    expect(await inFolder()).toEqual(['a.json']);
  });

  it('is not overwritten by a process that lost its lock while it slept', async () => {
    let isAsleep = true;
    const rename: Files['rename'] = async (from, to) => {
      // Its lock is old, so another process removes it, and writes.
      if (isAsleep) {
        isAsleep = false;
        await fs.rm(join(path, 'a.json.lock'), { recursive: true });
        await opened().compareAndSet('a', undefined, 'other');
      }
      return fs.rename(from, to);
    };
    const sleeper = new FilesDriver(path, { ...fs, rename }, PATIENCE).records;
    await expect(sleeper.compareAndSet('a', undefined, 'slept')).rejects.toThrow(StoreUnavailableError);
    expect(await opened().read('a')).toBe('other');
  });

  it('is written by one of two processes, if one slept before its draft and comes into the lock of the other', async () => {
    const lock = join(path, 'a.json.lock');
    let hasLooked = () => {};
    const looked = new Promise<void>((resolve) => (hasLooked = resolve));
    const rename: Files['rename'] = async (from, to) => looked.then(() => fs.rename(from, to));
    const other = new FilesDriver(path, { ...fs, rename }, PATIENCE).records;
    let others: Promise<boolean> | undefined;
    const mkdir = async (...args: Parameters<typeof fs.mkdir>) => {
      const made = await fs.mkdir(...args);
      if (args[0] === lock && !others) {
        await fs.rm(lock, { recursive: true });
        others = other.compareAndSet('a', undefined, 'other');
        await until(async () => (await fs.readdir(lock).catch(() => [])).length === 1);
      }
      return made;
    };
    const readdir = (async (...args: Parameters<typeof fs.readdir>) => {
      const found = await fs.readdir(...args);
      hasLooked();
      return found;
    }) as Files['readdir'];
    const sleeper = new FilesDriver(path, { ...fs, mkdir: mkdir as Files['mkdir'], readdir }, PATIENCE).records;
    const written = [await sleeper.compareAndSet('a', undefined, 'slept'), await others];
    expect(written.filter(Boolean)).toHaveLength(1);
    expect(await opened().read('a')).toBe(written[0] ? 'slept' : 'other');
    expect(await inFolder()).toEqual(['a.json']);
  });

  it('is listed although the folder is a volume with folders of its own', async () => {
    await fs.mkdir(join(path, 'lost+found'), { recursive: true });
    const readdir = (async (...args: Parameters<typeof fs.readdir>) => {
      if (String(args[0]).endsWith('lost+found')) throw Object.assign(new Error('EACCES'), { code: 'EACCES' });
      return fs.readdir(...args);
    }) as Files['readdir'];
    const { records } = new FilesDriver(path, { ...fs, readdir }, PATIENCE);
    await records.compareAndSet('a', undefined, '1');
    expect(await records.page('')).toEqual({ texts: new Map([['a', '1']]) });
  });

  it('can not be read: a listing fails, too, and does not leave it out', async () => {
    await fs.mkdir(join(path, 'a.json'), { recursive: true });
    await expect(opened().read('a')).rejects.toThrow(StoreUnavailableError);
    await expect(opened().page('')).rejects.toThrow(/EISDIR/);
  });

  it.each([undefined, '', 7, 'a\0b'])('needs a path, not %j', (wrong) => {
    expect(() => files(wrong as string)).toThrow(InvalidOptionsError);
  });
});

describe('A write', () => {
  it('reaches the disk before it takes the place of the former file, and its name after that', async () => {
    const steps: string[] = [];
    const watched: Files = {
      ...fs,
      rename: async (from, to) => {
        steps.push('rename');
        return fs.rename(from, to);
      },
      open: async (...args) => {
        const handle = await fs.open(...args);
        const sync = handle.sync.bind(handle);
        handle.sync = async () => (steps.push(String(args[0])), sync());
        return handle;
      },
    };
    await new FilesDriver(path, watched, PATIENCE).records.compareAndSet('a', undefined, '1');
    expect(steps).toEqual([expect.stringContaining('draft'), 'rename', path]);
  });
});

describe('A write that fails', () => {
  type Step = 'write' | 'sync' | 'rename' | 'flush';

  const failing = (fault: Partial<Record<Step, string>>): Files => {
    const fail = (step: Step) => {
      if (fault[step]) throw Object.assign(new Error(fault[step]), { code: fault[step] });
    };
    return {
      ...fs,
      rename: async (from, to) => (fail('rename'), fs.rename(from, to)),
      open: async (...args) => {
        const handle = await fs.open(...args);
        const write = handle.writeFile.bind(handle);
        handle.writeFile = async (text) => {
          // A full disk takes the first half.
          if (fault.write) await write(String(text).slice(0, 2));
          fail('write');
          return write(text);
        };
        const sync = handle.sync.bind(handle);
        handle.sync = async () => (fail(args[0] === path ? 'flush' : 'sync'), sync());
        return handle;
      },
    };
  };

  it.each<[string, Partial<Record<Step, string>>]>([
    ['the disk is full in the midst of it', { write: 'ENOSPC' }],
    ['the disk fails when it is flushed', { sync: 'EIO' }],
    ['the folder can not be written', { rename: 'EROFS' }],
  ])('leaves the former file whole when %s, and comes through once that is over', async (_what, fault) => {
    await opened().compareAndSet('a', undefined, 'former');
    const { records } = new FilesDriver(path, failing(fault), PATIENCE);
    const failure = (await records.compareAndSet('a', 'former', 'next').catch((error: unknown) => error)) as Error;
    expect(failure).toBeInstanceOf(StoreUnavailableError);
    expect(failure.message).toContain(Object.values(fault)[0]);
    expect(await opened().read('a')).toBe('former');
    expect(await inFolder()).toEqual(['a.json']);
    for (const step of Object.keys(fault)) delete (fault as Record<string, string>)[step];
    expect(await records.compareAndSet('a', 'former', 'next')).toBe(true);
    expect(await opened().read('a')).toBe('next');
  });

  it('leaves its outcome open if the file was replaced although the rename failed, as on a network', async () => {
    const rename: Files['rename'] = async (from, to) => {
      await fs.rename(from, to);
      throw Object.assign(new Error('ENOENT'), { code: 'ENOENT' });
    };
    const { records } = new FilesDriver(path, { ...fs, rename }, PATIENCE);
    await expect(records.compareAndSet('a', undefined, '1')).rejects.toThrow(UnknownOutcomeError);
  });

  it('after the file was replaced leaves its outcome open', async () => {
    const { records } = new FilesDriver(path, failing({ flush: 'EIO' }), PATIENCE);
    await expect(records.compareAndSet('a', undefined, '1')).rejects.toThrow(UnknownOutcomeError);
    expect(await opened().read('a')).toBe('1');
  });
});
