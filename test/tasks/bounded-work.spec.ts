import { grouped, single } from '../../lib/tasks/index.js';
import { type TaskNode, useTaskCluster } from './task-nodes.js';

const newCluster = useTaskCluster();
const LARGEST = 1_000_000;

/** Counts the keys of tasks that a node reads. */
function countReads({ driver }: TaskNode): { keys: number } {
  const { tasks, groups } = driver;
  const count = { keys: 0 };
  for (const texts of [tasks, groups]) {
    const readMany = texts.readMany.bind(texts);
    texts.readMany = (keys) => {
      count.keys += keys.length;
      return readMany(keys);
    };
  }
  return count;
}

describe('the cancel of a group with few members and a large total', () => {
  it.each([[[1]], [[LARGEST]], [[3, 700_000]]])(
    'reads only the pages in which members were submitted: %j',
    async (numbers) => {
      const cluster = newCluster();
      const node = cluster.node();
      const { tasks } = node;
      tasks.handlers.handle('other', () => undefined);
      tasks.start();
      for (const number of numbers) await tasks.submit(grouped('mail', 'june', number, LARGEST));
      const count = countReads(node);
      expect(await tasks.cancelGroup('mail', 'june')).toMatchObject({ outcome: 'cancelled' });
      await cluster.time.advance(60_000);
      for (const number of numbers)
        expect(await tasks.find(grouped('mail', 'june', number))).toMatchObject({ state: 'cancelled' });
      // The first walk, and those after 5, 10, 20 and 40 s.
      expect(count.keys).toBeLessThanOrEqual(5 * numbers.length * 1024 + 100);
    },
  );

  it('ends members that are submitted later', async () => {
    const cluster = newCluster();
    const { tasks } = cluster.node();
    await tasks.submit(grouped('mail', 'june', 1, LARGEST));
    await tasks.cancelGroup('mail', 'june');
    await tasks.submit(grouped('mail', 'june', 5000, LARGEST));
    expect(await tasks.find(grouped('mail', 'june', 5000))).toMatchObject({ state: 'cancelled' });
  });
});

describe('the look for a cycle', () => {
  it('is bounded: a member of a group for which very many others wait is refused if it waits itself', async () => {
    const cluster = newCluster();
    const node = cluster.node();
    const { tasks } = node;
    await tasks.submit(single('mail', 'other'));
    await tasks.submit(grouped('mail', 'a', 1, LARGEST));
    const later = { after: ['mail[a]'] };
    for (let index = 0; index < 50; index++) await tasks.submit(grouped('mail', `b${index}`, 1, 10), 1, later);
    const small = await tasks.submit(grouped('mail', 'a', 2), 1, { after: ['mail:other'] });
    expect(small).toMatchObject({ outcome: 'created' });
    for (let index = 0; index < 2000; index++)
      await tasks.submit(grouped('mail', `c${index}`, 1, 10), 1, { after: [`mail[b${index % 50}]`] });
    const count = countReads(node);
    const refused = tasks.submit(grouped('mail', 'a', 3), 1, { after: ['mail:other'] });
    await expect(refused).rejects.toMatchObject({
      code: 'invalid-options',
      faults: [expect.stringMatching(/^after: .* 2000/)],
    });
    expect(count.keys).toBeLessThan(10_000);
    expect(await tasks.find(grouped('mail', 'a', 3))).toBeUndefined();
    expect(await tasks.submit(grouped('mail', 'a', 4))).toMatchObject({ outcome: 'created' });
  });
});
