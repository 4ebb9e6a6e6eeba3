import { type Files, withDraft } from '../../../lib/stores/files/folder-lock.js';

/** A lock that is there at the first looks, and time that makes a big step at each look at the clock. */
function contended({ looks, inoAt }: { looks: number; inoAt: (look: number) => number }) {
  const removals: number[] = [];
  const drafts: string[] = [];
  let look = 0;
  const files = {
    mkdir: async () => {
      if (++look <= looks && removals.length === 0) throw Object.assign(new Error('it is there'), { code: 'EEXIST' });
    },
    stat: async () => ({ ino: inoAt(look), ctimeMs: 0 }),
    rm: async (_path: string, { recursive = false }) => void (recursive && removals.push(look)),
    rmdir: async () => undefined,
    readdir: async () => drafts.splice(0),
  };
  let now = 0;
  jest.spyOn(performance, 'now').mockImplementation(() => (now += 1000));
  const write = async (path: string) => void drafts.push(path.split('/').at(-1)!);
  const taken = (patience: number) =>
    withDraft(files as unknown as Files, { lock: 'lock', patience, write }, async () => removals.length);
  return { taken, drafts };
}

describe('a lock that lets one process at a time work', () => {
  afterEach(() => void jest.restoreAllMocks());

  it('is never taken from living ones, however long they take turns', async () => {
    const { taken } = contended({ looks: 10, inoAt: (look) => look });
    expect(await taken(Infinity)).toBe(0);
  });

  it('is taken from one that left it behind', async () => {
    const { taken } = contended({ looks: 100, inoAt: () => 7 });
    expect(await taken(Infinity)).toBe(1);
  });

  it('is not waited for any longer than a call may take', async () => {
    const { taken } = contended({ looks: 100, inoAt: (look) => look });
    await expect(taken(10_000)).rejects.toThrow('other processes have lock: try again later');
  });

  it('does not count while another draft is in it', async () => {
    const { taken, drafts } = contended({ looks: 0, inoAt: () => 7 });
    drafts.push('draft-other');
    expect(await taken(Infinity)).toBe(0);
    expect(drafts).toEqual([]);
  });
});
