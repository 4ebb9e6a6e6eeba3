import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { MOST_KEYS, type RecordPage, type RecordChange, type RecordStore } from '../../lib/stores/store.js';
import { StoreUnavailableError } from '../../lib/stores/store.errors.js';
import { describeUnless } from '../needs/unless.js';
import { eventually } from './eventually.js';
import { describeJournalContract } from './journal.contract.js';
import { describeWatchContract } from './watch.contract.js';
import { watchUntil } from './watch-until.js';

/** A store to be tested: each `open` gives another client of the same records. */
export interface StoreUnderTest {
  open(): RecordStore;
  /** How many members keep the records. Default 1. */
  readonly members?: number;
  /** How many members must be there before a write. Default 0. */
  readonly quorum?: number;
  /** Texts on a page at most. Default 1,000. */
  readonly largestPage?: number;
  /** Whether pages are only of texts with the prefix; otherwise a prefix without texts has as many pages as any other. */
  readonly isPagedByPrefix?: boolean;
  /** Ends what the stores connect to. */
  stop(): Promise<void>;
}
type Prepared = StoreUnderTest | Promise<StoreUnderTest>;

/** Contract of every RecordStore, one sentence per promise. @param lack why it can't be prepared here */
export function describeStoreContract(name: string, prepare: () => Prepared, lack?: string): void {
  describeUnless(lack)(`${name} keeps the store's contract`, () => {
    let underTest: StoreUnderTest;
    let one: RecordStore;
    let other: RecordStore;
    const opened: RecordStore[] = [];

    const open = async (): Promise<RecordStore> => {
      const store = underTest.open();
      opened.push(store);
      await eventually('the store is connected', () => store.health().connected);
      return store;
    };

    beforeAll(async () => {
      underTest = await prepare();
      [one, other] = [await open(), await open()];
    });

    afterAll(async () => {
      await Promise.all(opened.map((store) => store.close()));
      await underTest?.stop();
    });

    const newKey = () => `contract:${randomUUID()}`;
    const written = async (text: string): Promise<string> => {
      const key = newKey();
      expect(await one.compareAndSet(key, undefined, text)).toBe(true);
      return key;
    };

    describe('compare-and-set', () => {
      it('finds nothing under a key that was never written', async () => {
        expect(await one.read(newKey())).toBeUndefined();
      });

      it('writes the first text only where there is none', async () => {
        const key = await written('first');
        expect(await other.compareAndSet(key, undefined, 'second')).toBe(false);
        expect(await one.read(key)).toBe('first');
      });

      it('writes from the exact text, and the other client reads it', async () => {
        const key = await written('before');
        expect(await one.compareAndSet(key, 'before', 'after')).toBe(true);
        expect(await other.read(key)).toBe('after');
      });

      it('leaves the text untouched when another one was expected', async () => {
        const key = await written('{"x":1}');
        expect(await one.compareAndSet(key, '{ "x": 1 }', 'never')).toBe(false);
        expect(await one.read(key)).toBe('{"x":1}');
      });

      it('writes nothing where a text was expected and there is none', async () => {
        const key = newKey();
        expect(await one.compareAndSet(key, 'something', 'never')).toBe(false);
        expect(await one.read(key)).toBeUndefined();
      });

      it('accepts the text that is there already', async () => {
        const key = await written('same');
        expect(await one.compareAndSet(key, 'same', 'same')).toBe(true);
      });

      it.each([
        ['quotes', `"double" 'single' \\back\\slash`],
        ['spaces and line ends', '  { "x" :\t1 }\r\n '],
        ['unicode', 'Zürich 東京 👩‍🚀 e\u0301 \u00e9 \u0000'],
        ['nothing', ''],
      ])('compares %s as they are', async (_what, text) => {
        const key = await written(text);
        expect(await other.read(key)).toBe(text);
        expect(await other.compareAndSet(key, text, 'next')).toBe(true);
      });

      it('tells apart texts that look the same', async () => {
        const key = await written('\u00e9');
        expect(await one.compareAndSet(key, 'e\u0301', 'never')).toBe(false);
      });

      it('keeps a text of 1 MB', async () => {
        const text = 'ü'.repeat(512 * 1024);
        const key = await written(text);
        expect(await other.read(key)).toBe(text);
        expect(await other.compareAndSet(key, text, 'small')).toBe(true);
      });

      it('lets exactly one of many concurrent writers win, over two clients', async () => {
        const key = await written('start');
        const writers = Array.from({ length: 40 }, (_, i) =>
          (i % 2 ? one : other).compareAndSet(key, 'start', `writer ${i}`),
        );
        const wins = (await Promise.all(writers)).flatMap((won, i) => (won ? [`writer ${i}`] : []));
        expect(wins).toEqual([await one.read(key)]);
      });

      it('lets exactly one of many concurrent first writers win, over two clients', async () => {
        const key = newKey();
        const writers = Array.from({ length: 40 }, (_, i) =>
          (i % 2 ? one : other).compareAndSet(key, undefined, `writer ${i}`),
        );
        const wins = (await Promise.all(writers)).flatMap((won, i) => (won ? [`writer ${i}`] : []));
        expect(wins).toEqual([await one.read(key)]);
      });

      it('makes a racy counter exact, counted up by ten flows of two clients', async () => {
        const key = await written('0');
        const countUp = async (store: RecordStore): Promise<void> => {
          const text = await store.read(key);
          if (!(await store.compareAndSet(key, text, String(Number(text) + 1)))) await countUp(store);
        };
        const flow = async (store: RecordStore) => {
          for (let i = 0; i < 10; i += 1) await countUp(store);
        };
        await Promise.all([one, other].flatMap((store) => Array.from({ length: 5 }, () => flow(store))));
        expect(await one.read(key)).toBe('100');
      });
    });

    describe('list', () => {
      it('gives every text whose key begins with the prefix, and no other', async () => {
        const prefix = `list-${randomUUID()}:`;
        const keys = [
          `${prefix}a`,
          `${prefix}%_*\\`,
          `${prefix}ünï "x"\n`,
          `${prefix}a@b@c`,
          `${prefix} blank `,
          prefix,
        ];
        for (const key of keys) await one.compareAndSet(key, undefined, `text of ${key}`);
        await one.compareAndSet(`x${prefix}a`, undefined, 'another');
        expect(await other.list(prefix)).toEqual(new Map(keys.map((key) => [key, `text of ${key}`])));
      });

      it('takes no character of the prefix for a wildcard', async () => {
        const id = randomUUID();
        await one.compareAndSet(`${id}xx`, undefined, 'text');
        expect(await one.list(`${id}%`)).toEqual(new Map());
        expect(await one.list(`${id}_`)).toEqual(new Map());
      });
    });

    describe('pages and many keys', () => {
      const pages = async (store: RecordStore, prefix: string) => {
        const all: RecordPage[] = [];
        do all.push(await store.page!(prefix, all.at(-1)?.next));
        while (all.at(-1)!.next !== undefined);
        return all;
      };

      it('gives every text whose key begins with the prefix on exactly one page, and no other', async () => {
        const prefix = `pages-${randomUUID()}:`;
        const texts = new Map(Array.from({ length: 2500 }, (_, i) => [`${prefix}${i}`, `text ${i}`]));
        const flows = Array.from({ length: 50 }, async (_, flow) => {
          for (const [key, text] of [...texts].slice(flow * 50, flow * 50 + 50))
            await one.compareAndSet(key, undefined, text, { notify: 'none' });
        });
        await Promise.all(flows);
        const { largestPage = 1000, isPagedByPrefix } = underTest;
        const listed = await pages(other, prefix);
        expect(listed.flatMap((page) => [...page.texts]).length).toBe(texts.size);
        expect(new Map(listed.flatMap((page) => [...page.texts]))).toEqual(texts);
        expect(listed.every((page) => page.texts.size <= largestPage)).toBe(true);
        const empty = listed.map(({ next }) => ({ texts: new Map(), ...(next !== undefined && { next }) }));
        expect(await pages(other, `${prefix}none`)).toEqual(isPagedByPrefix ? [{ texts: new Map() }] : empty);
      }, 60_000);

      it('reads the texts of many keys at once, without those that have none', async () => {
        const [first, second, absent] = [await written('first'), await written('second'), newKey()];
        expect(await other.readMany!([first, absent, second])).toEqual(
          new Map([
            [first, 'first'],
            [second, 'second'],
          ]),
        );
        expect(await other.readMany!([])).toEqual(new Map());
      });

      it('reads as many keys as may be asked for', async () => {
        const key = await written('text');
        const keys = [...Array.from({ length: MOST_KEYS - 1 }, newKey), key];
        expect(await other.readMany!(keys)).toEqual(new Map([[key, 'text']]));
      });
    });

    describeWatchContract({ stores: () => [one, other], newKey, written });

    describeJournalContract(() => [one, other]);

    describe('the clock', () => {
      it('moves on as fast as real time', async () => {
        const began = performance.now();
        const first = await one.now();
        const firstRead = performance.now();
        await eventually('time passed', () => performance.now() - firstRead > 60);
        const again = performance.now();
        const second = await one.now();
        const moved = second.time - first.time;
        expect(moved).toBeGreaterThanOrEqual(Math.floor(again - firstRead) - 2);
        expect(moved).toBeLessThanOrEqual(Math.ceil(performance.now() - began) + 2);
      });

      it('tells ms since the epoch, within 2 ms of the same host', async () => {
        const before = Date.now();
        const { time } = await one.now();
        expect(time).toBeGreaterThanOrEqual(before - 2);
        expect(time).toBeLessThanOrEqual(Date.now() + 2);
      });

      it('names the member that answered, to every client alike', async () => {
        const { members = 1 } = underTest;
        const [mine, theirs] = [new Set<string>(), new Set<string>()];
        await eventually('all members answered both clients', async () => {
          mine.add((await one.now()).member);
          theirs.add((await other.now()).member);
          return mine.size >= members && theirs.size >= members;
        });
        expect(mine).not.toContain('');
        expect(mine.size).toBe(members);
        expect(theirs).toEqual(mine);
      });
    });

    describe('health', () => {
      it('says that it is connected and sees members', () => {
        const { members = 1, quorum = 0 } = underTest;
        expect(one.health()).toEqual({ connected: true, members, quorum });
      });
    });

    describe('close', () => {
      it('is done once, however often it is called, and leaves other clients alone', async () => {
        const store = await open();
        await Promise.all([store.close(), store.close()]);
        await store.close();
        expect(store.health()).toMatchObject({ connected: false, members: 0 });
        await expect(one.read(newKey())).resolves.toBeUndefined();
      });

      it.each<[string, (store: RecordStore) => Promise<unknown>]>([
        ['read', (store) => store.read('key')],
        ['compareAndSet', (store) => store.compareAndSet('key', undefined, 'text')],
        ['list', (store) => store.list('')],
        ['page', (store) => store.page!('')],
        ['readMany', (store) => store.readMany!(['key'])],
        ['watch', (store) => store.watch('', () => undefined)],
        ['now', (store) => store.now()],
        ['append', (store) => store.journal('closed').append(['text'])],
        ['the reading of a journal', (store) => store.journal('closed').read(1)],
      ])('makes %s refuse later calls', async (_name, call) => {
        const store = await open();
        await store.close();
        await expect(call(store)).rejects.toThrow(StoreUnavailableError);
      });

      it('ends the watches', async () => {
        const key = newKey();
        const store = await open();
        const ended: RecordChange[] = [];
        await store.watch(key, (change) => ended.push(change));
        await store.close();
        const going = await watchUntil(one, key, () => other.compareAndSet(key, undefined, 'text'));
        expect(going).toContainEqual({ key, text: 'text' });
        expect(ended).toEqual([]);
      });
    });
  });
}
