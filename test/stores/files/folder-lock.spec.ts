import { type Files, withFolder } from '../../../lib/stores/files/folder-lock.js';

/** A folder that is there at the first looks, and time that makes a big step at each look at the clock. */
function contended({ looks, inoAt }: { looks: number; inoAt: (look: number) => number }) {
  const removals: number[] = [];
  let look = 0;
  const files = {
    mkdir: async () => {
      if (++look <= looks && removals.length === 0) throw Object.assign(new Error('it is there'), { code: 'EEXIST' });
    },
    stat: async () => ({ ino: inoAt(look), ctimeMs: 0 }),
    rm: async () => void removals.push(look),
  };
  let now = 0;
  jest.spyOn(performance, 'now').mockImplementation(() => (now += 1000));
  return { files: files as unknown as Files, removals };
}

describe('a folder that lets one process at a time work', () => {
  afterEach(() => void jest.restoreAllMocks());

  it('is never taken from living ones, however long they take turns', async () => {
    const { files, removals } = contended({ looks: 10, inoAt: (look) => look });
    expect(await withFolder(files, 'lock', async () => removals.length)).toBe(0);
  });

  it('is taken from one that left it behind', async () => {
    const { files, removals } = contended({ looks: 100, inoAt: () => 7 });
    expect(await withFolder(files, 'lock', async () => removals.length)).toBe(1);
  });
});
