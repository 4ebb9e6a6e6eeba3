import { conditionOf, nodesOf, typesIn } from '../../lib/console/web/tasks/task-types.js';
import { noteSamples, samplesOf } from '../../lib/console/web/live/type-history.js';

const WORK = { type: 'mail', handles: 'tasks', concurrency: 4, running: 0, completed: 5, failed: 1 } as const;
const node = (acquirer: string, ...types: readonly object[]) => ({
  node: { group: 'g', acquirer, instance: `instance of ${acquirer}` },
  types: (types.length > 0 ? types : [{}]).map((each) => ({ ...WORK, ...each })),
});
const waiting = (number: number) => [{ type: 'mail', offeredAt: 1, waiting: number }];

describe('the types of tasks on the page', () => {
  it('add the work of all nodes, and count groups apart', () => {
    const nodes = [node('a', { running: 2 }, { handles: 'groups', completed: 100 }), node('b', { failed: 3 })];
    const [mail] = typesIn({ waiting: waiting(7), nodes });
    expect(mail).toMatchObject({ waiting: 7, running: 2, concurrency: 8, completed: 10, failed: 4 });
    expect(nodesOf(mail!).map(({ tasks, groups }) => [tasks?.running, groups?.completed])).toEqual([
      [2, 100],
      [0, undefined],
    ]);
  });

  it.each([
    ['running', [node('a', { running: 1 })], 0],
    ['waiting', [node('a')], 3],
    ['idle', [node('a')], 0],
    ['waiting', [node('a', { obstacle: 'no-permit' })], 3],
    ['no node', [], 3],
    ['programs', [node('a', { handles: 'programs' })], 0],
    ['partly off', [node('a', { obstacle: 'paused-here' }), node('b')], 3],
    ['off', [node('a', { obstacle: 'paused-here' })], 3],
    ['paused', [node('a', { obstacle: 'paused' }), node('b', { obstacle: 'group' })], 3],
    ['stopped', [node('a', { obstacle: 'acquirer' })], 3],
  ])('are %s', (word, nodes, number) => {
    const [mail] = typesIn({ waiting: number > 0 ? waiting(number) : [], nodes });
    expect(conditionOf(mail!).word).toBe(word);
  });

  it('keep a history of a bounded size and age', () => {
    const nodes = [node('a')];
    const at = (second: number) => typesIn({ waiting: waiting(second), nodes });
    for (let second = 0; second < 3600; second++) noteSamples(second * 1000, at(second));
    const samples = samplesOf('mail');
    expect(samples).toHaveLength(400);
    expect(samples.at(-1)).toMatchObject({ at: 3_599_000, waiting: 3599 });
    noteSamples(3_599_000 + 31 * 60_000, typesIn({ waiting: [], nodes }));
    expect(samplesOf('mail')).toHaveLength(1);
  });
});
