import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DOUBT, StoreUnavailableError, files, memory } from 'nestjs-gatekeeper';
import { ScriptedArchive } from '../../../support/scripted-archive.js';
import { describeArchiveContract } from './archive.contract.js';
import { archived, names } from './archived.js';
import { OpenedArchive } from './opened-archive.js';

describeArchiveContract('memory()', async () => memory());

describe('in a folder', () => {
  const folders: string[] = [];
  afterAll(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true }))));

  describeArchiveContract('files()', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'archive-'));
    folders.push(folder);
    return files(join(folder, 'definitions'));
  });
});

describe('An archive of definitions', () => {
  const KEY = 'definition:a';
  const opened = () => {
    const store = new ScriptedArchive();
    return { store, archive: new OpenedArchive(store.persistence) };
  };

  it('looks at one text, in turn, where nothing is new', async () => {
    const { store, archive } = opened();
    const all = [archived('a'), archived('b')];
    await archive.save(all);
    await archive.save(all);
    await archive.save(all);
    expect(store.calls).toEqual({ load: 1, look: 2, save: 2, write: 2, close: 0 });
  });

  it('asks nothing without definitions', async () => {
    const { store, archive } = opened();
    await archive.save([]);
    expect(store.calls.load).toBe(0);
  });

  it('leaves a text alone that was repaired since it was read', async () => {
    const { store, archive } = opened();
    store.texts.set(KEY, 'garbage');
    store.script = (call) => {
      if (call === 'save' && store.calls.save === 2) store.content = new Map([['a', archived('a')]]);
    };
    expect(await archive.load()).toEqual([archived('a')]);
    expect(store.calls).toMatchObject({ load: 2, save: 2, write: 1 });
  });

  it('is empty, and written, where a text was put aside', async () => {
    const { store, archive } = opened();
    store.texts.set(KEY, 'garbage');
    await archive.save([archived('a')]);
    expect([...store.content.values()]).toEqual([archived('a')]);
    expect([...store.texts.values()]).toContain('garbage');
  });

  it('fails while its store is away, and comes through when it is back', async () => {
    const { store, archive } = opened();
    const away = () => {
      throw new StoreUnavailableError('away');
    };
    store.script = away;
    await expect(archive.load()).rejects.toThrow('away');
    await expect(archive.save([archived('a')])).rejects.toThrow('away');
    store.script = undefined;
    expect(await archive.load()).toEqual([]);
    store.script = away;
    await expect(archive.save([archived('a')])).rejects.toThrow('away');
    store.script = undefined;
    await archive.save([archived('a')]);
    expect(names([...store.content.values()])).toEqual(['a']);
  });

  it('reads what a failover left in doubt, and writes again what it took back', async () => {
    const { store, archive } = opened();
    await archive.save([archived('a', 2)]);
    const former = store.texts.get(KEY)!;
    await archive.save([archived('a', 3)]);
    store.texts.set(KEY, DOUBT + former);
    expect(await new OpenedArchive(store.persistence).load()).toEqual([archived('a', 2)]);
    await archive.save([archived('a', 3)]);
    expect([...store.content.values()]).toEqual([archived('a', 3)]);
  });

  it('asks no further after a call that was given up, until that has ended', async () => {
    jest.useFakeTimers({ doNotFake: ['queueMicrotask', 'nextTick', 'setImmediate'] });
    const { store, archive } = opened();
    let end = () => {};
    store.script = () => new Promise<void>((resolve) => (end = resolve));
    const loading = archive.load().catch((error: Error) => error);
    await jest.advanceTimersByTimeAsync(10_000);
    expect(await loading).toMatchObject({ message: 'the store did not list the records within 10000 ms' });
    await expect(archive.save([archived('a')])).rejects.toThrow('an earlier call is still without an answer');
    store.script = undefined;
    end();
    await jest.advanceTimersByTimeAsync(0);
    await archive.save([archived('a')]);
    expect(store.calls.write).toBe(1);
    jest.useRealTimers();
  });
});
