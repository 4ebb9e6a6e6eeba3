import { strict as assert } from 'node:assert';
import { randomUUID } from 'node:crypto';
import { MOST_KEYS, type OrderedCollection, type TextEntry } from '../../core/store/driver.js';
import type { StoreClients } from './store-clients.js';
import type { ContractTests } from './test-runner.js';

/** Each test has a part of the order for itself. */
const newPrefix = () => `${randomUUID()}|`;
const END = '\uffff';

/** Contract of {@link OrderedCollection.range}. */
export function describeRangeContract({ describe, it }: ContractTests, store: StoreClients): void {
  const clients = (): readonly [OrderedCollection, OrderedCollection] => [store.one.tasks, store.other.tasks];
  /** Creates a text each, in turn by both clients. */
  const created = async (texts: readonly string[]): Promise<TextEntry[]> => {
    const entries = texts.map((text) => ({ key: randomUUID(), text }));
    await inFlows(entries, async ({ key, text }, index) => {
      assert.equal(await clients()[index % 2]!.compareAndSet(key, undefined, text), true);
    });
    return entries;
  };
  const textsOf = async (from: string, to: string, limit = MOST_KEYS) =>
    (await clients()[1].range(from, to, limit)).map(({ text }) => text);

  describe('a range of texts', () => {
    it('has the texts and their keys in the order of the texts', async () => {
      const prefix = newPrefix();
      const [c, a, b] = await created(['c', 'a', 'b'].map((text) => prefix + text));
      assert.deepEqual(await clients()[1].range(prefix, prefix + END, 10), [a, b, c]);
    });

    it('begins at its lower bound, and ends before its upper bound', async () => {
      const prefix = newPrefix();
      await created(['a', 'b', 'b', 'ba', 'c', 'c', 'd'].map((text) => prefix + text));
      assert.deepEqual(
        await textsOf(`${prefix}b`, `${prefix}c`),
        ['b', 'b', 'ba'].map((text) => prefix + text),
      );
    });

    it('is empty if there are no texts in it, or its bounds are in the wrong order', async () => {
      const prefix = newPrefix();
      await created([`${prefix}a`, `${prefix}c`]);
      assert.deepEqual(await textsOf(`${prefix}aa`, `${prefix}c`), []);
      assert.deepEqual(await textsOf(`${prefix}z`, `${prefix}a`), []);
      assert.deepEqual(await textsOf(`${prefix}a`, `${prefix}a`), []);
    });

    it('has as many texts as the limit allows, and the smallest', async () => {
      const prefix = newPrefix();
      await created(['5', '3', '1', '4', '2'].map((text) => prefix + text));
      assert.deepEqual(await textsOf(prefix, prefix + END, 2), [`${prefix}1`, `${prefix}2`]);
      assert.equal((await textsOf(prefix, prefix + END, 5)).length, 5);
      assert.deepEqual(await textsOf(prefix, prefix + END, 0), []);
    });

    it('compares UTF-16 units, as JavaScript does', async () => {
      const prefix = newPrefix();
      // In UTF-8, U+1F680 would come after U+FF5E. By a collation, 'B' would come after 'a', and 'é' before 'f'.
      const words = [
        '',
        ' ',
        '|',
        '|a',
        '}',
        '~',
        '0',
        '10',
        '9',
        'B',
        'a',
        'é',
        'e\u0301',
        'f',
        '東',
        '🚀',
        '～',
        '\u0000',
      ];
      const texts = words.map((word) => prefix + word);
      await created(texts);
      assert.deepEqual(await textsOf(prefix, prefix + END), texts.toSorted());
      assert.deepEqual(await textsOf(`${prefix}|`, `${prefix}}`), [`${prefix}|`, `${prefix}|a`]);
      assert.deepEqual(await textsOf(`${prefix}🚀`, `${prefix}～`), [`${prefix}🚀`]);
    });

    it('follows replacements and removals', async () => {
      const prefix = newPrefix();
      const [moved, removed] = await created([`${prefix}w|1`, `${prefix}w|2`]);
      await clients()[0].compareAndSet(moved!.key, moved!.text, `${prefix}c|1`);
      await clients()[0].compareAndSet(removed!.key, removed!.text, undefined);
      assert.deepEqual(await textsOf(`${prefix}w`, `${prefix}x`), []);
      assert.deepEqual(await clients()[1].range(`${prefix}c`, `${prefix}d`, 10), [
        { key: moved!.key, text: `${prefix}c|1` },
      ]);
    });

    it('has all of thousands of texts, page after page, with many equal ones', async () => {
      const prefix = newPrefix();
      const texts = Array.from({ length: 3000 }, (_, i) => `${prefix}${String((i * 7919) % 1500).padStart(6, '0')}`);
      const sorted = (await created(texts)).toSorted(byText);
      assert.deepEqual(
        await textsOf(prefix, prefix + END),
        sorted.slice(0, MOST_KEYS).map(({ text }) => text),
      );

      // Often, because a store that guesses where the range ends may guess well.
      const ranges = await Promise.all(Array.from({ length: 60 }, () => textsOf(prefix, prefix + END)));
      assert.deepEqual(
        ranges.map(({ length }) => length),
        Array<number>(60).fill(MOST_KEYS),
      );

      const paged = new Map<string, string>();
      for (let from = prefix; ;) {
        const page = await clients()[1].range(from, prefix + END, 200);
        for (const { key, text } of page) paged.set(key, text);
        if (page.length < 200) break;
        from = page.at(-1)!.text; // the texts that equal this one are read again
      }
      assert.deepEqual(paged, new Map(sorted.map(({ key, text }) => [key, text])));
    });

    it('has long texts', async () => {
      const prefix = newPrefix();
      const texts = ['a', 'b'].map((letter) => prefix + letter + 'ü'.repeat(100 * 1024));
      await created(texts);
      assert.deepEqual(await textsOf(prefix, prefix + END), texts);
    });
  });
}

function byText(one: TextEntry, other: TextEntry): number {
  return one.text < other.text ? -1 : Number(one.text > other.text);
}

/** Works on all items, in 50 flows at once. */
async function inFlows<T>(items: readonly T[], work: (item: T, index: number) => Promise<void>): Promise<void> {
  const entries = items.entries();
  const flow = async () => {
    for (const [index, item] of entries) await work(item, index);
  };
  await Promise.all(Array.from({ length: 50 }, flow));
}
