import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import type { Journal, RecordStore } from '../../lib/stores/store.js';

/** Contract of every journal. @param clients two clients of the same records */
export function describeJournalContract(clients: () => [RecordStore, RecordStore]): void {
  describe('a journal', () => {
    const newJournals = (): [Journal, Journal] => {
      const name = `contract-${randomUUID()}`;
      const [one, other] = clients();
      return [one.journal(name), other.journal(name)];
    };
    const numbered = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => `entry ${from + i}`);

    it('is empty before anything was appended', async () => {
      expect(await newJournals()[0].read(10)).toEqual([]);
    });

    it('gives what either client appended, oldest first', async () => {
      const [mine, theirs] = newJournals();
      await mine.append(['a', 'b']);
      await theirs.append(['c']);
      await mine.append([]);
      await mine.append(['d']);
      expect(await mine.read(10)).toEqual(['a', 'b', 'c', 'd']);
      expect(await theirs.read(10)).toEqual(['a', 'b', 'c', 'd']);
    });

    it('gives the last ones, as many as are asked for', async () => {
      const [mine, theirs] = newJournals();
      await mine.append(numbered(0, 2500));
      expect(await theirs.read(3)).toEqual(['entry 2497', 'entry 2498', 'entry 2499']);
      expect(await theirs.read(2400)).toEqual(numbered(100, 2500));
      expect(await theirs.read(0)).toEqual([]);
    });

    it('lets the oldest fall out when it is full', async () => {
      const [mine, theirs] = newJournals();
      await mine.append(numbered(0, 9900));
      await theirs.append(numbered(9900, 10_150));
      const kept = await mine.read(20_000);
      expect(kept).toEqual(numbered(150, 10_150));
    });

    it('keeps each text as it is', async () => {
      const [mine, theirs] = newJournals();
      const texts = ['', '{"x":"Zürich 東京 👩‍🚀 \\u0000"}', '  \r\n ', 'ü'.repeat(50_000)];
      await mine.append(texts);
      expect(await theirs.read(10)).toEqual(texts);
    });

    it('loses nothing that is appended at once, and keeps what was appended together in order', async () => {
      const [mine, theirs] = newJournals();
      const groups = Array.from({ length: 20 }, (_, i) => [`${i} first`, `${i} second`]);
      await Promise.all(groups.map((texts, i) => (i % 2 ? mine : theirs).append(texts)));
      const texts = await mine.read(100);
      expect(texts.toSorted()).toEqual(groups.flat().toSorted());
      for (const [first, second] of groups) expect(texts.indexOf(first!)).toBeLessThan(texts.indexOf(second!));
    });

    it('knows nothing of another one, nor of records', async () => {
      const [mine] = newJournals();
      await newJournals()[0].append(['elsewhere']);
      expect(await mine.read(10)).toEqual([]);
    });
  });
}
