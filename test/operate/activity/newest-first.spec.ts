import { newestFirst } from '../../../lib/operate/activity/index.js';

const journal = Array.from({ length: 500 }, (_, at) => ({ semaphore: at < 3 ? 'rare' : 'busy', at }));
const read = async (limit: number) => journal.slice(-limit);
const timesOf = (entries: readonly { at: number }[]) => entries.map(({ at }) => at);

describe('the newest entries of a journal', () => {
  it('come first', async () => {
    expect(timesOf(await newestFirst({ limit: 3 }, read))).toEqual([499, 498, 497]);
  });

  it('of one semaphore are found however far back they lie', async () => {
    expect(timesOf(await newestFirst({ semaphore: 'rare', limit: 10 }, read))).toEqual([2, 1, 0]);
    expect(timesOf(await newestFirst({ semaphore: 'rare', limit: 2 }, read))).toEqual([2, 1]);
  });
});
