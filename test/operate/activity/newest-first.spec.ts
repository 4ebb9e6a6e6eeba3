import type { RunEntry } from 'nestjs-gatekeeper';
import { inSlices } from '../../../lib/core/async/slices.js';
import { systemClock } from '../../../lib/core/async/node-clock.js';
import { newestFirst, newestRuns } from '../../../lib/operate/activity/index.js';

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

describe('the newest run of each job', () => {
  const node = { group: 'default', acquirer: 'app1', instance: 'i' };
  const run = (job: string, at: number): RunEntry => ({
    kind: 'run',
    semaphore: 'job',
    job,
    node,
    at,
    took: 1,
    outcome: 'ok',
  });

  it('is the one that began last, in whatever order the nodes told of them', async () => {
    const runs = [run('a', 2), run('b', 1), run('a', 1), run('b', 3)];
    expect([...(await inSlices(newestRuns(runs), systemClock)).values()]).toEqual([run('a', 2), run('b', 3)]);
  });

  it('is the one with the highest number, if several began in one ms', async () => {
    const runs = [9, 10, 8].map((number) => ({ ...run('a', 2), run: number }));
    expect([...(await inSlices(newestRuns(runs), systemClock)).values()]).toEqual([runs[1]]);
  });
});
