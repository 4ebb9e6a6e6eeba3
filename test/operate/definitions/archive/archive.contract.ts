import type { DefinitionArchive } from 'nestjs-gatekeeper';
import { archived } from './archived.js';

/** An archive to be tested: each `open` gives another process's. */
export interface ArchiveUnderTest {
  open(): DefinitionArchive;
}

/** Contract of every DefinitionArchive, one sentence per promise. */
export function describeArchiveContract(name: string, prepare: () => Promise<ArchiveUnderTest>): void {
  describe(`${name} keeps the archive's contract`, () => {
    let one: DefinitionArchive;
    let other: DefinitionArchive;

    beforeEach(async () => {
      const underTest = await prepare();
      [one, other] = [underTest.open(), underTest.open()];
    });
    afterEach(async () => {
      await Promise.all([one?.close(), other?.close()]);
    });

    const kept = async () => (await other.load()).toSorted((a, b) => (a.name < b.name ? -1 : 1));

    it('has nothing at first', async () => {
      expect(await one.load()).toEqual([]);
    });

    it('gives another process all that was saved: definition, pause, who changed it, and what was removed', async () => {
      const paused = archived('paused', 3, {
        pause: { by: 'ann', at: 5, reason: 'Zürich "x"\n', groupPattern: 'zone' },
      });
      const removed = archived('removed', 4, { definition: undefined });
      await one.save([archived('edited'), paused, removed]);
      expect(await kept()).toEqual([archived('edited'), paused, JSON.parse(JSON.stringify(removed))]);
    });

    it('keeps whose definition it is, so that one of code follows the code also when it comes back', async () => {
      const change = { id: 'x', kind: 'follow' as const, by: 'app1', at: 7, reason: "the application's code" };
      const ofCode = archived('code', 2, { source: 'code', fingerprint: 'abcdefghij', change });
      const ofOperator = archived('operator', 2, { source: 'operator' });
      await one.save([ofCode, ofOperator]);
      expect(await kept()).toEqual([ofCode, ofOperator]);
    });

    it('keeps the higher revision of each semaphore, in any order of saves', async () => {
      await other.save([archived('a', 5), archived('b', 2)]);
      await one.save([archived('a', 4), archived('b', 3)]);
      expect(await kept()).toEqual([archived('a', 5), archived('b', 3)]);
    });

    it('keeps of equal revisions the one that was saved last: the sides of a split network agreed on it', async () => {
      const ours = archived('a', 5, { change: { id: 'ours', kind: 'edit', by: 'bob', at: 1 } });
      await other.save([archived('a', 5)]);
      await one.save([ours]);
      expect(await kept()).toEqual([ours]);
    });

    it('keeps entries of other semaphores from other writers', async () => {
      await one.save([archived('a')]);
      await other.save([archived('b')]);
      await one.save([archived('c')]);
      expect(await kept()).toEqual([archived('a'), archived('b'), archived('c')]);
    });

    it('loses nothing of what two processes save at once', async () => {
      const save = (archive: DefinitionArchive, prefix: string) =>
        Promise.all(Array.from({ length: 10 }, (_, index) => archive.save([archived(`${prefix}${index}`)])));
      await Promise.all([save(one, 'a'), save(other, 'b')]);
      expect(await kept()).toHaveLength(20);
    });

    it('is closed as often as one likes', async () => {
      await one.close();
      await one.close();
    });
  });
}
