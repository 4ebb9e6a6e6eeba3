import { type ArchiveStore, CorruptArchiveError, NewerArchiveError } from 'nestjs-gatekeeper';
import { archived } from './archived.js';
import { OpenedArchive } from './opened-archive.js';

const KEY = 'definition:a';

/** What an archive of definitions promises over any store, one sentence per promise. */
export function describeArchiveContract(name: string, prepare: () => Promise<ArchiveStore>): void {
  describe(`An archive in ${name}`, () => {
    let store: ArchiveStore;
    let opened: OpenedArchive[];
    /** As another process opens it. */
    const open = () => {
      const archive = new OpenedArchive(store);
      opened.push(archive);
      return archive;
    };

    beforeEach(async () => {
      opened = [];
      store = await prepare();
    });
    afterEach(async () => {
      await Promise.all(opened.map((each) => each.close()));
    });

    const kept = () => open().load();
    /** Works with the texts as a person or another program does. */
    const withRecords = async <T>(work: (records: ReturnType<ArchiveStore['open']>['records']) => Promise<T>) => {
      const driver = store.open();
      try {
        return await work(driver.records);
      } finally {
        await driver.close();
      }
    };
    const textOf = (key: string) => withRecords((records) => records.read(key));
    const place = (text: string) =>
      withRecords(async (records) => {
        expect(await records.compareAndSet(KEY, await records.read(KEY), text)).toBe(true);
      });

    it('has nothing at first', async () => {
      expect(await kept()).toEqual([]);
    });

    it('gives another process all that was saved: definition, pause, who changed it, and what was removed', async () => {
      const paused = archived('paused', 3, {
        pause: { by: 'ann', at: 5, reason: 'Zürich "x"\n', groupPattern: 'zone' },
      });
      const removed = archived('removed', 4, { definition: undefined });
      await open().save([archived('edited'), paused, removed]);
      expect(await kept()).toEqual([archived('edited'), paused, JSON.parse(JSON.stringify(removed))]);
    });

    it('keeps whose definition it is, so that one of code follows the code also when it comes back', async () => {
      const change = { id: 'x', kind: 'follow' as const, by: 'app1', at: 7, reason: "the application's code" };
      const ofCode = archived('code', 2, { source: 'code', fingerprint: 'abcdefghij', change });
      const ofOperator = archived('operator', 2, { source: 'operator' });
      await open().save([ofCode, ofOperator]);
      expect(await kept()).toEqual([ofCode, ofOperator]);
    });

    it('keeps the higher revision of each semaphore, in any order of saves', async () => {
      await open().save([archived('a', 5), archived('b', 2)]);
      await open().save([archived('a', 4), archived('b', 3)]);
      expect(await kept()).toEqual([archived('a', 5), archived('b', 3)]);
    });

    it('keeps the higher revision that another process saved since it last looked', async () => {
      const [one, other] = [open(), open()];
      await one.save([archived('a', 2)]);
      await other.save([archived('a', 5)]);
      await one.save([archived('a', 3)]);
      expect(await kept()).toEqual([archived('a', 5)]);
      await one.save([archived('a', 6)]);
      expect(await kept()).toEqual([archived('a', 6)]);
    });

    it('keeps of equal revisions the one that was saved last: the sides of a split network agreed on it', async () => {
      const ours = archived('a', 5, { change: { id: 'ours', kind: 'edit', by: 'bob', at: 1 } });
      await open().save([archived('a', 5)]);
      await open().save([ours]);
      expect(await kept()).toEqual([ours]);
    });

    it('keeps entries of other semaphores from other writers', async () => {
      const [one, other] = [open(), open()];
      await one.save([archived('a')]);
      await other.save([archived('b')]);
      await one.save([archived('c')]);
      expect(await kept()).toEqual([archived('a'), archived('b'), archived('c')]);
    });

    it('loses nothing of what two processes save at once', async () => {
      const save = (archive: OpenedArchive, prefix: string) =>
        Promise.all(Array.from({ length: 10 }, (_, index) => archive.save([archived(`${prefix}${index}`)])));
      await Promise.all([save(open(), 'a'), save(open(), 'b')]);
      expect(await kept()).toHaveLength(20);
    });

    it.each([
      [
        'NUL in a reason',
        archived('a', 2, { change: { id: 'x', kind: 'edit', by: 'ann', at: 1, reason: 'a\u0000b' } }),
      ],
      ['half a character in a pattern', archived('a', 2, { definition: withPattern('a\ud800') })],
      ['NUL in a name', archived('hosti\u0000le')],
      ['a name of 200 capitals beyond ASCII', archived('Ä'.repeat(200))],
    ])('keeps every definition, whatever is in it (%s)', async (_, awkward) => {
      await open().save([archived('0'), awkward, archived('\uff5e')]);
      expect(await kept()).toEqual([archived('0'), awkward, archived('\uff5e')]);
    });

    it('writes JSON that people can read', async () => {
      await open().save([archived('a')]);
      const text = await textOf(KEY);
      expect(JSON.parse(text!)).toEqual({ v: 1, ...archived('a') });
      expect(text!.split('\n').length).toBeGreaterThan(10);
    });

    it('writes again what was lost', async () => {
      const archive = open();
      await archive.save([archived('a')]);
      await place('{"v":1}');
      await archive.save([archived('a')]);
      expect(await kept()).toEqual([archived('a')]);
    });

    it.each(['{"v":1,"name":', '[]', '{"v":1,"name":"a","revision":"2"}', JSON.stringify({ v: 1, ...archived('b') })])(
      'puts %j aside, says so, and gives the others',
      async (text) => {
        await open().save([archived('a'), archived('b')]);
        await place(text);
        const archive = open();
        expect(await archive.load()).toEqual([archived('b')]);
        expect(archive.problems).toEqual([expect.any(CorruptArchiveError)]);
        const aside = /put aside as "(\S+)", and is no longer read/.exec(archive.problems[0]!.message)![1]!;
        expect(await textOf(aside)).toBe(text);
        expect(await kept()).toEqual([archived('b')]);
        await archive.save([archived('a')]);
        expect(await kept()).toEqual([archived('a'), archived('b')]);
        expect(await textOf(aside)).toBe(text);
      },
    );

    it('neither reads nor touches what a newer version wrote', async () => {
      const text = '{"v":2,"anything":true}';
      await open().save([archived('b')]);
      await place(text);
      const archive = open();
      await expect(archive.load()).rejects.toThrow(NewerArchiveError);
      await expect(archive.save([archived('a', 9), archived('b', 9)])).rejects.toThrow(/version 2.*upgrade this node/);
      expect(await textOf(KEY)).toBe(text);
    });

    it('is closed as often as one likes', async () => {
      const archive = open();
      await archive.save([archived('a')]);
      await archive.close();
      await archive.close();
    });
  });
}

function withPattern(groupPattern: string) {
  return { ...archived('a').definition!, groupPattern };
}
