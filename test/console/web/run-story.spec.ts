import type { HistoryEntry } from '../../../lib/console/web/api/answers.js';
import { sentenceOf, storyOf } from '../../../lib/console/web/runs/run-story.js';

type Ran = Exclude<HistoryEntry, { kind: 'skip' }>;

const NODE = { group: 'default', acquirer: 'app1', instance: 'one' };
const COMMON = { semaphore: 'job', job: 'Jobs.work', node: NODE, at: 1000, token: 7, slot: 0 };
const NOW = 100_000;
const LOSS = { reason: 'expired', at: 31_000 } as const;
const ended = (outcome: 'ok' | 'failed' | 'lost', more: object = {}): Ran =>
  ({ ...COMMON, kind: 'run', outcome, took: 2000, ...more }) as Ran;
const crashed = { ...COMMON, kind: 'run', outcome: 'crashed', until: 11_000 } as Ran;

describe('the page of a run', () => {
  it.each<[string, Ran, RegExp]>([
    ['ended well', ended('ok'), /^It ended well on app1, after 2 s\.$/],
    [
      'failed at its second attempt',
      ended('failed', { attempts: 2 }),
      /^It failed on app1, after 2 s and 2 attempts\.$/,
    ],
    ['goes on', { ...COMMON, kind: 'running' } as Ran, /^It runs on app1\.$/],
    [
      'goes on without its permit',
      { ...COMMON, kind: 'running', loss: LOSS } as Ran,
      /^It runs on app1, without its permit: .+\.$/,
    ],
    [
      'ended without its permit',
      ended('lost', { loss: LOSS }),
      /^It ended on app1, after 2 s, without its permit: .+\.$/,
    ],
    [
      'lost its permit on a node that has died since',
      ended('lost', { took: undefined, loss: LOSS, until: 61_000 }),
      /^It lost its permit on app1: .+\. Its node no longer lives, and has written no end of it\.$/,
    ],
    [
      'was cut off by the death of its node',
      crashed,
      /^It began on app1, which no longer lives and has written no end of it\.$/,
    ],
  ])('says in a sentence that it %s', (_case, run, sentence) => {
    expect(sentenceOf(run)).toMatch(sentence);
  });

  it('ends with the permit, not with an end of the run, where its node has died', () => {
    expect(storyOf(crashed, [], undefined, NOW).map(({ at, title, tone }) => [at, title, tone])).toEqual([
      [1000, 'began', 'accent'],
      [11_000, 'its permit ended', 'bad'],
    ]);
    const lost = ended('lost', { took: undefined, loss: LOSS, until: 61_000 });
    expect(storyOf(lost, [], undefined, NOW).map(({ at, title }) => [at, title])).toEqual([
      [1000, 'began'],
      [31_000, 'lost its permit'],
      [61_000, 'its permit expired'],
    ]);
  });

  it('has the changes that people made while it ran, and those only', () => {
    const change = (at: number) => ({ at, action: 'pause', by: 'ann', reason: 'too slow' }) as never;
    const story = storyOf(ended('ok'), [change(999), change(2000), change(3001)], undefined, NOW);
    expect(story.map(({ at, title, detail }) => [at, title, detail])).toEqual([
      [1000, 'began', 'on app1, with slot 0, token 7'],
      [2000, 'ann: pause', '“too slow”'],
      [3000, 'ended well', 'after 2 s'],
    ]);
  });
});
