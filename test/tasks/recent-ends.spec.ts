import { RecentEnds } from '../../lib/tasks/overview/node-work.js';

describe('the counts of attempts that ended', () => {
  function counting() {
    let now = 5_000_000;
    const ends = new RecentEnds({ monotonic: () => now });
    return { ends, advance: (ms: number) => (now += ms) };
  }

  it('cover the last minute, per type', () => {
    const { ends, advance } = counting();
    ends.note('mail', 'completed');
    ends.note('mail', 'failed');
    ends.note('letter', 'completed');
    advance(30_000);
    ends.note('mail', 'completed');
    expect([ends.of('mail'), ends.of('letter'), ends.of('none')]).toEqual([
      { completed: 2, failed: 1 },
      { completed: 1, failed: 0 },
      { completed: 0, failed: 0 },
    ]);
    advance(35_000);
    expect([ends.of('mail'), ends.of('letter')]).toEqual([
      { completed: 1, failed: 0 },
      { completed: 0, failed: 0 },
    ]);
    expect(ends.types()).toEqual(['mail']);
  });

  it('keep at most 1,000 types', () => {
    const { ends } = counting();
    for (let type = 0; type < 1100; type++) ends.note(`t${type}`, 'completed');
    expect(ends.types()).toHaveLength(1000);
  });
});
