import * as fs from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CorruptArchiveError, InvalidOptionsError, NewerArchiveError, fileArchive } from 'nestjs-gatekeeper';
import { FileArchive } from '../../../../lib/operate/definitions/archive/file/file-archive.js';
import type { Files } from '../../../../lib/operate/definitions/archive/file/files.js';
import { describeArchiveContract } from './archive.contract.js';
import { archived, names } from './archived.js';

let folder: string;
let path: string;

beforeEach(async () => {
  folder = await fs.mkdtemp(join(tmpdir(), 'archive-'));
  path = join(folder, 'data', 'definitions.json');
});
afterEach(() => fs.rm(folder, { recursive: true }));

const inFolder = async () => (await fs.readdir(join(folder, 'data'))).toSorted();
const place = async (text: string) => {
  await fs.mkdir(join(folder, 'data'), { recursive: true });
  await fs.writeFile(path, text);
};

describeArchiveContract('fileArchive()', async () => {
  const persistence = fileArchive(path);
  return { open: () => persistence.open() };
});

describe('fileArchive()', () => {
  it('writes JSON that people can read, and nothing beside it', async () => {
    await fileArchive(path)
      .open()
      .save([archived('b'), archived('a')]);
    const text = await fs.readFile(path, 'utf8');
    expect(JSON.parse(text)).toEqual({ v: 1, definitions: [archived('a'), archived('b')] });
    expect(text.split('\n').length).toBeGreaterThan(10);
    expect(await inFolder()).toEqual(['definitions.json']);
  });

  it('writes a file that only its owner may read, also in place of one that all may', async () => {
    await place('{"v":1,"definitions":[]}');
    await fs.chmod(path, 0o644);
    await fileArchive(path)
      .open()
      .save([archived('a')]);
    expect((await fs.stat(path)).mode & 0o777).toBe(0o600);
  });

  it.each([
    ['that is there', true],
    ['that is not there yet', false],
  ])('follows a link to a file %s, and leaves the link as it is', async (_, isThere) => {
    const target = join(folder, 'volume', 'kept.json');
    await fs.mkdir(join(folder, 'data'));
    await fs.symlink('../volume/kept.json', path);
    const others = fileArchive(target).open();
    if (isThere) await others.save([archived('a')]);
    const archive = fileArchive(path).open();
    await archive.save([archived('b')]);
    expect((await fs.lstat(path)).isSymbolicLink()).toBe(true);
    expect(names(await others.load())).toEqual(isThere ? ['a', 'b'] : ['b']);
    expect(await fs.readdir(join(folder, 'volume'))).toEqual(['kept.json']);
    expect(await inFolder()).toEqual(['definitions.json']);
  });

  it('puts aside the corrupt file that a link leads to, not the link', async () => {
    await fs.mkdir(join(folder, 'data'));
    await fs.writeFile(join(folder, 'kept.json'), 'garbage');
    await fs.symlink('../kept.json', path);
    await expect(fileArchive(path).open().load()).rejects.toThrow(CorruptArchiveError);
    expect((await fs.lstat(path)).isSymbolicLink()).toBe(true);
    expect((await fs.readdir(folder)).filter((name) => name.startsWith('kept.json.corrupt-'))).toHaveLength(1);
  });

  it('touches nothing before it is used', async () => {
    await fileArchive(path).open().load();
    expect(await fs.readdir(folder)).toEqual([]);
  });

  it('does not write where nothing is new', async () => {
    const archive = fileArchive(path).open();
    await archive.save([archived('a')]);
    const { ino } = await fs.stat(path);
    await archive.save([archived('a'), archived('a', 1)]);
    expect((await fs.stat(path)).ino).toBe(ino);
  });

  it('writes a deleted file again', async () => {
    const archive = fileArchive(path).open();
    await archive.save([archived('a')]);
    await fs.rm(path);
    await archive.save([archived('a')]);
    expect(names(await archive.load())).toEqual(['a']);
  });

  it.each(['{"v":1,"definitions":[{"name":', '', '[]', '{"v":1,"definitions":[{"name":"a","revision":"2"}]}'])(
    'puts %j aside, says so, and begins anew',
    async (text) => {
      await place(text);
      const archive = fileArchive(path).open();
      const error = (await archive.load().catch((fault: Error) => fault)) as Error;
      expect(error).toBeInstanceOf(CorruptArchiveError);
      const [aside, ...others] = await inFolder();
      expect(aside).toMatch(/^definitions\.json\.corrupt-\d/);
      expect(others).toEqual([]);
      expect(error.message).toContain(join(folder, 'data', aside!));
      expect(await fs.readFile(join(folder, 'data', aside!), 'utf8')).toBe(text);
      expect(await archive.load()).toEqual([]);
      await archive.save([archived('a')]);
      expect(names(await archive.load())).toEqual(['a']);
    },
  );

  it('does not put the good file aside that another process wrote in place of a corrupt one', async () => {
    await place('garbage');
    const slow = new FileArchive(path, {
      ...fs,
      mkdir: (async (...args: Parameters<Files['mkdir']>) => {
        // Between its look at the garbage and its turn another process is done with both.
        if (String(args[0]).endsWith('.lock')) {
          await fileArchive(path)
            .open()
            .load()
            .catch(() => undefined);
          await fileArchive(path)
            .open()
            .save([archived('good')]);
        }
        return fs.mkdir(...args);
      }) as Files['mkdir'],
    });
    expect(names(await slow.load())).toEqual(['good']);
    expect((await inFolder()).filter((name) => name.includes('corrupt'))).toHaveLength(1);
  });

  it('neither reads nor touches what a newer version wrote', async () => {
    const text = '{"v":2,"anything":true}';
    await place(text);
    const archive = fileArchive(path).open();
    await expect(archive.load()).rejects.toThrow(NewerArchiveError);
    await expect(archive.save([archived('a')])).rejects.toThrow(/version 2.*upgrade this node/);
    expect(await fs.readFile(path, 'utf8')).toBe(text);
    expect(await inFolder()).toEqual(['definitions.json']);
  });

  it('overcomes the lock of a process that died over it, with its half-written text', async () => {
    await fileArchive(path)
      .open()
      .save([archived('a')]);
    await fs.mkdir(`${path}.lock`);
    await fs.writeFile(join(`${path}.lock`, 'draft-x'), '{"v":1,"defi');
    await fileArchive(path)
      .open()
      .save([archived('b')]);
    expect(names(await fileArchive(path).open().load())).toEqual(['a', 'b']);
    expect(await inFolder()).toEqual(['definitions.json']);
  });

  it.each([undefined, '', 7, 'a\0b'])('refuses %j for a path', (wrong) => {
    expect(() => fileArchive(wrong as string)).toThrow(InvalidOptionsError);
  });
});

describe('a write', () => {
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
    await new FileArchive(path, watched).save([archived('a')]);
    expect(steps).toEqual([expect.stringContaining('draft'), 'rename', join(folder, 'data')]);
  });
});

describe('a write that fails', () => {
  const failing = (fault: Partial<Record<'write' | 'sync' | 'rename', string>>): Files => {
    const fail = (step: keyof typeof fault) => {
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
          if (fault.write) await write(String(text).slice(0, 20));
          fail('write');
          return write(text);
        };
        const sync = handle.sync.bind(handle);
        handle.sync = async () => (fail('sync'), sync());
        return handle;
      },
    };
  };

  it.each([
    ['the disk is full in the midst of it', { write: 'ENOSPC' }],
    ['the disk fails when it is flushed', { sync: 'EIO' }],
    ['the folder can not be written', { rename: 'EROFS' }],
  ])('leaves the former file whole when %s, and comes through once that is over', async (_what, fault) => {
    await fileArchive(path)
      .open()
      .save([archived('a')]);
    const archive = new FileArchive(path, failing(fault));
    await expect(archive.save([archived('b')])).rejects.toThrow(Object.values(fault)[0]);
    expect(names(await fileArchive(path).open().load())).toEqual(['a']);
    expect(await inFolder()).toEqual(['definitions.json']);
    for (const step of Object.keys(fault)) delete (fault as Record<string, string>)[step];
    await archive.save([archived('b')]);
    expect(names(await fileArchive(path).open().load())).toEqual(['a', 'b']);
  });
});
