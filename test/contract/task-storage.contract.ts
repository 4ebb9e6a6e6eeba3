import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { MOST_KEYS, type RecordStore } from '../../lib/stores/store.js';
import type { TaskStorage, Texts } from '../../lib/stores/task-storage.js';
import { StoreUnavailableError } from '../../lib/stores/store.errors.js';
import { describeUnless } from '../needs/unless.js';
import { eventually } from './eventually.js';
import { describeQueueContract } from './hint-queue.contract.js';
import { describeRangeContract } from './text-range.contract.js';

/** A store to be tested: each `open` gives another client of the same tasks. */
export interface StorageUnderTest {
  open(): RecordStore;
  /** Ends what the stores connect to. */
  stop(): Promise<void>;
}
type Prepared = StorageUnderTest | Promise<StorageUnderTest>;

/** Contract of every TaskStorage, one sentence per promise. @param lack why it can't be prepared here */
export function describeTaskStorageContract(name: string, prepare: () => Prepared, lack?: string): void {
  describeUnless(lack)(`${name} keeps the contract of the storage of tasks`, () => {
    let underTest: StorageUnderTest;
    let one: TaskStorage;
    let other: TaskStorage;
    const opened: RecordStore[] = [];

    const open = async (): Promise<RecordStore & { readonly tasks: TaskStorage }> => {
      const store = underTest.open();
      opened.push(store);
      await eventually('the store is connected', () => store.health().connected);
      return store as RecordStore & { readonly tasks: TaskStorage };
    };

    beforeAll(async () => {
      underTest = await prepare();
      [one, other] = [(await open()).tasks, (await open()).tasks];
    });

    afterAll(async () => {
      await Promise.all(opened.map((store) => store.close()));
      await underTest?.stop();
    });

    describe.each(['tasks', 'groups'] as const)('the texts of %s', (which) => {
      describeTextsContract(() => [one[which], other[which]]);
    });

    it('keeps tasks and groups apart', async () => {
      const key = randomUUID();
      expect(await one.tasks.create(key, 'task')).toBeUndefined();
      expect(await other.groups.read(key)).toBeUndefined();
    });

    describeRangeContract(() => [one.tasks, other.tasks]);

    describeQueueContract({ storages: () => [one, other], open });

    describe('close', () => {
      it.each<[string, (tasks: TaskStorage) => Promise<unknown>]>([
        ['read', ({ tasks }) => tasks.read('key')],
        ['readMany', ({ groups }) => groups.readMany(['key'])],
        ['create', ({ tasks }) => tasks.create('key', 'text')],
        ['replace', ({ groups }) => groups.replace('key', 'text', 'next')],
        ['remove', ({ tasks }) => tasks.remove('key', 'text')],
        ['range', ({ tasks }) => tasks.range('', 'z', 1)],
        ['offer', (tasks) => tasks.queue('closed').offer(['hint'])],
        ['poll', (tasks) => tasks.queue('closed').poll(10, new AbortController().signal)],
        ['drain', (tasks) => tasks.queue('closed').drain(1)],
        ['peek', (tasks) => tasks.queue('closed').peek()],
      ])('makes %s refuse later calls', async (_name, call) => {
        const store = await open();
        await store.close();
        await expect(call(store.tasks)).rejects.toThrow(StoreUnavailableError);
      });
    });
  });
}

function describeTextsContract(clients: () => readonly [Texts, Texts]): void {
  let one: Texts;
  let other: Texts;
  beforeAll(() => {
    [one, other] = clients();
  });

  const created = async (text: string): Promise<string> => {
    const key = randomUUID();
    expect(await one.create(key, text)).toBeUndefined();
    return key;
  };

  it('finds nothing under a key that was never written', async () => {
    expect(await one.read(randomUUID())).toBeUndefined();
  });

  it('creates a text that the other client reads', async () => {
    expect(await other.read(await created('text'))).toBe('text');
  });

  it('creates no second text under a key, and answers with the first', async () => {
    const key = await created('first');
    expect(await other.create(key, 'second')).toBe('first');
    expect(await one.read(key)).toBe('first');
  });

  it('replaces the exact text', async () => {
    const key = await created('before');
    expect(await other.replace(key, 'before', 'after')).toBe(true);
    expect(await one.read(key)).toBe('after');
  });

  it('leaves the text untouched when another one was expected', async () => {
    const key = await created('{"x":1}');
    expect(await other.replace(key, '{ "x": 1 }', 'never')).toBe(false);
    expect(await other.remove(key, '{ "x": 1 }')).toBe(false);
    expect(await one.read(key)).toBe('{"x":1}');
  });

  it('replaces and removes nothing where there is no text', async () => {
    const key = randomUUID();
    expect(await one.replace(key, '', 'never')).toBe(false);
    expect(await one.remove(key, '')).toBe(false);
    expect(await other.read(key)).toBeUndefined();
  });

  it('removes the exact text, and a new one can be created', async () => {
    const key = await created('text');
    expect(await other.remove(key, 'text')).toBe(true);
    expect(await one.read(key)).toBeUndefined();
    expect(await one.create(key, 'new')).toBeUndefined();
    expect(await other.read(key)).toBe('new');
  });

  it.each([
    ['quotes', `"double" 'single' \\back\\slash`],
    ['spaces and line ends', '  { "x" :\t1 }\r\n '],
    ['unicode', 'Zürich 東京 👩‍🚀 e\u0301 \u00e9 \u0000'],
    ['nothing', ''],
    ['200 KiB', 'ü'.repeat(100 * 1024)],
  ])('compares %s as they are', async (_what, text) => {
    const key = await created(text);
    expect(await other.read(key)).toBe(text);
    expect(await other.replace(key, text, `${text}.`)).toBe(true);
    expect(await one.remove(key, `${text}.`)).toBe(true);
  });

  it('lets exactly one of many concurrent writers create, replace and remove, over two clients', async () => {
    const key = randomUUID();
    const all = <T>(write: (texts: Texts, writer: number) => Promise<T>) =>
      Promise.all(Array.from({ length: 40 }, (_, writer) => write(writer % 2 ? one : other, writer)));
    const creations = await all((texts, writer) => texts.create(key, `created by ${writer}`));
    const first = (await one.read(key))!;
    expect(creations.map((found, writer) => found ?? `created by ${writer}`)).toEqual(Array(40).fill(first));
    expect(creations.filter((found) => found === undefined)).toHaveLength(1);

    const replacements = await all((texts, writer) => texts.replace(key, first, `replaced by ${writer}`));
    const second = (await one.read(key))!;
    expect(replacements.flatMap((won, writer) => (won ? [`replaced by ${writer}`] : []))).toEqual([second]);

    const removals = await all((texts) => texts.remove(key, second));
    expect(removals.filter((won) => won)).toHaveLength(1);
    expect(await one.read(key)).toBeUndefined();
  });

  it('reads the texts of many keys at once, without those that have none', async () => {
    const [first, second] = [await created('first'), await created('second')];
    const absent = Array.from({ length: MOST_KEYS - 2 }, () => randomUUID());
    expect(await other.readMany([first, ...absent, second])).toEqual(
      new Map([
        [first, 'first'],
        [second, 'second'],
      ]),
    );
    expect(await other.readMany([])).toEqual(new Map());
  });
}
