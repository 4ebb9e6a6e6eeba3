import { strict as assert } from 'node:assert';
import { randomUUID } from 'node:crypto';
import type { Journal } from '../../core/store/driver.js';
import type { StoreClients } from './store-clients.js';
import type { ContractTests } from './test-runner.js';

/** Contract of {@link Journal}. */
export function describeJournalContract({ describe, it }: ContractTests, clients: StoreClients): void {
  /** One journal, as both clients see it. */
  const newJournal = (): readonly [Journal, Journal] => {
    const name = `contract-${randomUUID()}`;
    return [clients.one.journal(name), clients.other.journal(name)];
  };
  const numbered = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => `entry ${from + i}`);

  describe('a journal', () => {
    it('is empty before anything was appended', async () => {
      assert.deepEqual(await newJournal()[0].read(10), []);
    });

    it('gives what either client appended, oldest first', async () => {
      const [mine, theirs] = newJournal();
      await mine.append(['a', 'b']);
      await theirs.append(['c']);
      await mine.append([]);
      await mine.append(['d']);
      assert.deepEqual(await mine.read(10), ['a', 'b', 'c', 'd']);
      assert.deepEqual(await theirs.read(10), ['a', 'b', 'c', 'd']);
    });

    it('gives the last ones, as many as are asked for', async () => {
      const [mine, theirs] = newJournal();
      await mine.append(numbered(0, 2500));
      assert.deepEqual(await theirs.read(3), ['entry 2497', 'entry 2498', 'entry 2499']);
      assert.deepEqual(await theirs.read(2400), numbered(100, 2500));
      assert.deepEqual(await theirs.read(0), []);
    });

    it('lets the oldest fall out when it is full, after 10,000', async () => {
      const [mine, theirs] = newJournal();
      await mine.append(numbered(0, 9900));
      await theirs.append(numbered(9900, 10_150));
      assert.deepEqual(await mine.read(20_000), numbered(150, 10_150));
    });

    it('keeps each text as it is', async () => {
      const [mine, theirs] = newJournal();
      const texts = ['', '{"x":"Zürich 東京 👩‍🚀 \\u0000"}', '  \r\n ', 'ü'.repeat(50_000)];
      await mine.append(texts);
      assert.deepEqual(await theirs.read(10), texts);
    });

    it('loses nothing that is appended at once, and keeps what was appended together in order', async () => {
      const [mine, theirs] = newJournal();
      const groups = Array.from({ length: 20 }, (_, i) => [`${i} first`, `${i} second`]);
      await Promise.all(groups.map((texts, i) => (i % 2 ? mine : theirs).append(texts)));
      const texts = await mine.read(100);
      assert.deepEqual(texts.toSorted(), groups.flat().toSorted());
      for (const [first, second] of groups) assert.ok(texts.indexOf(first!) < texts.indexOf(second!));
    });

    it('knows nothing of another one, nor of records', async () => {
      const [mine] = newJournal();
      await newJournal()[0].append(['elsewhere']);
      assert.deepEqual(await mine.read(10), []);
    });
  });
}
