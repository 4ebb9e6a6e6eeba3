import { type CheckOptions, checkHistory } from './check-history.js';
import { Story } from './story.js';

const OPTIONS: CheckOptions = {
  slack: 10,
  takeovers: { job: { duration: 1000, tolerance: 100, bound: 400 } },
};

/** Which rules a history breaks. */
function broken({ entries }: Story): string[] {
  return checkHistory(entries, OPTIONS).violations.map(({ rule }) => rule);
}

const held = (permit: string, from: number, until: number) =>
  new Story().granted(permit, { at: from, remaining: until - from });

describe('S1: never more surely held than there may be', () => {
  const first = () => held('p1:1', 100, 500);

  it('keeps: one begins when the other has learnt of its end', () => {
    expect(broken(first().ended('p1:1', 500).granted('p2:2', { at: 500 }))).toEqual([]);
  });

  it('breaks: one begins just before, although its holder does not know yet', () => {
    expect(broken(first().granted('p2:2', { at: 499.9 }).ended('p1:1', 500))).toEqual(['S1']);
  });

  it('keeps: one begins when the release of the other was sent, though not answered', () => {
    expect(broken(first().released('p1:1', 300, 400).granted('p2:2', { at: 300 }))).toEqual([]);
  });

  it('breaks: one begins just before the release of the other was sent', () => {
    expect(broken(first().granted('p2:2', { at: 299.9 }).released('p1:1', 300))).toEqual(['S1']);
  });

  it('keeps: the other was killed, or its signal aborted', () => {
    expect(broken(first().happened('killed', 'p1', 300).granted('p2:2', { at: 300 }))).toEqual([]);
    expect(broken(first().ended('p1:1', 300, 'revoked').granted('p2:2', { at: 300 }))).toEqual([]);
  });

  it('breaks: the other is frozen, and goes on when it is thawed', () => {
    const story = first().happened('frozen', 'p1', 200).granted('p2:2', { at: 499.9 });
    expect(broken(story)).toEqual(['S1']);
  });

  it('breaks: the other was refreshed before its end', () => {
    const story = first().refreshed('p1:1', 500, 300).granted('p2:2', { at: 799.9 }).ended('p1:1', 800);
    expect(broken(story)).toEqual(['S1']);
  });

  it('keeps and breaks: as many as there may be, each in a slot of its own', () => {
    const two = () => new Story(2).granted('p1:1', { at: 100 }).granted('p2:2', { at: 200, slot: 1 });
    expect(broken(two())).toEqual([]);
    expect(broken(two().granted('p3:3', { at: 300, slot: 2 }))).toEqual(['S1']);
    expect(broken(new Story(2).granted('p1:1', { at: 100 }).granted('p2:2', { at: 200 }))).toEqual(['S1']);
  });

  it('keeps: what was granted under a higher limit stays; breaks: it is granted on under the lower one', () => {
    const two = () => new Story(2).granted('p1:1', { at: 100 }).granted('p2:2', { at: 200, slot: 1 }).limited(300, 1);
    expect(broken(two())).toEqual([]);
    expect(broken(two().released('p1:1', 400).granted('p3:3', { at: 500 }))).toEqual(['S1']);
  });

  it('keeps: it was decided while the limit was edited; breaks: it was asked for after the edit', () => {
    const one = () => new Story(2).granted('p1:1', { at: 100 }).limited(300, 1);
    expect(broken(one().granted('p2:2', { asked: 299.9, at: 301, slot: 1 }))).toEqual([]);
    expect(broken(one().granted('p2:2', { asked: 300, at: 301, slot: 1 }))).toEqual(['S1']);
  });

  it('says who held what, and shows the entries around it', () => {
    const { violations } = checkHistory(first().granted('p2:2', { at: 300 }).entries);
    expect(violations[0]!.text).toBe(
      'job: two held slot 0 at once, at +0.300 s: ' +
        'p1 held p1:1 (slot 0, token 1) from +0.100 s and counted on it until +0.500 s; ' +
        'p2 held p2:2 (slot 0, token 2) from +0.300 s and counted on it until +1.300 s',
    );
    expect(violations[0]!.around.at(-1)).toContain('+0.300 s  p2  granted');
  });
});

describe('S2: tokens follow real time', () => {
  const first = () => new Story().granted('p1:7', { at: 100 }).released('p1:7', 200);

  it('keeps: a higher one, or a lower one that was asked for before the other returned', () => {
    expect(broken(first().granted('p2:8', { at: 300 }))).toEqual([]);
    expect(broken(first().granted('p2:6', { asked: 100, at: 300 }))).toEqual([]);
  });

  it('breaks: a lower one that was asked for after the other returned', () => {
    expect(broken(first().granted('p2:6', { asked: 100.1, at: 300 }))).toEqual(['S2']);
  });

  it('breaks: two permits with one token', () => {
    expect(broken(first().granted('p2:7', { asked: 50, at: 300 }))).toEqual(['S2']);
  });

  it('keeps: the same permit granted once more; breaks: with another slot', () => {
    const again = (slot: number) => new Story(2).granted('p1:7', { at: 100 }).granted('p1:7', { at: 200, slot });
    expect(broken(again(0))).toEqual([]);
    expect(broken(again(1))).toEqual(['S2']);
  });
});

describe('S3: no stale write is applied', () => {
  const story = () => new Story(2).wrote('p2:8', 100, true);

  it('keeps: it is refused, or of another slot, or has the same token', () => {
    expect(broken(story().wrote('p1:7', 200, false))).toEqual([]);
    expect(broken(story().wrote('p1:7', 200, true, 1))).toEqual([]);
    expect(broken(story().wrote('p2:8', 200, true))).toEqual([]);
  });

  it('breaks: it is applied', () => {
    expect(broken(story().wrote('p1:7', 200, true))).toEqual(['S3']);
  });

  it('is not shown by a resource that refuses what is not stale', () => {
    expect(broken(story().wrote('p3:9', 200, false))).toEqual(['H']);
  });
});

describe('S4: holders learn of the end', () => {
  const story = () => held('p1:1', 100, 500);

  it('keeps: at the end and a little late', () => {
    expect(broken(story().ended('p1:1', 510).until(2000))).toEqual([]);
  });

  it('breaks: later, or never', () => {
    expect(broken(story().ended('p1:1', 510.1).until(2000))).toEqual(['S4']);
    expect(broken(story().until(510.1))).toEqual(['S4']);
    expect(broken(story().until(510))).toEqual([]);
  });

  it('keeps: it was released or killed before; breaks: only after', () => {
    expect(broken(story().released('p1:1', 510).until(2000))).toEqual([]);
    expect(broken(story().happened('killed', 'p1', 510).until(2000))).toEqual([]);
    expect(broken(story().released('p1:1', 510.1).until(2000))).toEqual(['S4']);
    expect(broken(story().happened('killed', 'p1', 510.1).until(2000))).toEqual(['S4']);
  });

  it('keeps: a frozen process learns it when it is thawed; breaks: it does not', () => {
    const frozen = () => story().happened('frozen', 'p1', 400).happened('thawed', 'p1', 900);
    expect(broken(frozen().ended('p1:1', 910).until(2000))).toEqual([]);
    expect(broken(frozen().ended('p1:1', 910.1).until(2000))).toEqual(['S4']);
    expect(broken(story().happened('frozen', 'p1', 400).until(2000))).toEqual([]);
  });

  it('keeps: a process whose event loop was blocked learns it when it continues; breaks: it was blocked before or after', () => {
    const ended = (since: number, until: number) =>
      broken(story().ended('p1:1', 700).stalled('p1', since, until).until(2000));
    expect(ended(400, 700)).toEqual([]);
    expect(ended(400, 689)).toEqual(['S4']);
    expect(ended(200, 480)).toEqual(['S4']);
    expect(ended(600, 700)).toEqual(['S4']);
  });

  it('breaks: a freeze that was over long before the end is no excuse', () => {
    const story = held('p1:1', 100, 500).happened('frozen', 'p1', 200).happened('thawed', 'p1', 300);
    expect(broken(story.ended('p1:1', 511).until(2000))).toEqual(['S4']);
  });

  describe('after a freeze past the end', () => {
    const thawed = () => story().happened('frozen', 'p1', 400).happened('thawed', 'p1', 500);

    it('breaks: the first look does not throw', () => {
      const look = (threw: boolean, at = 500) => thawed().woken('p1:1', at, { callback: 'io', threw });
      expect(broken(look(true).ended('p1:1', 501))).toEqual([]);
      expect(broken(look(false).ended('p1:1', 501))).toEqual(['S4']);
    });

    it('keeps: a look before the end does not throw', () => {
      const story = held('p1:1', 100, 500).woken('p1:1', 499.9, { callback: 'timer', threw: false });
      expect(broken(story.ended('p1:1', 500))).toEqual([]);
    });

    it('breaks: the signal has not aborted when the first turn of timers is over', () => {
      const look = (aborted: boolean) => thawed().woken('p1:1', 501, { callback: 'after-timers', aborted });
      expect(broken(look(true).ended('p1:1', 501))).toEqual([]);
      expect(broken(look(false).ended('p1:1', 502))).toEqual(['S4']);
    });

    it('keeps: the permit ended after that turn of timers, while the process got no time', () => {
      const look = (since: number) =>
        story().woken('p1:1', 600, { callback: 'after-timers', aborted: false, since }).ended('p1:1', 501);
      expect(broken(look(499))).toEqual([]);
      expect(broken(look(500))).toEqual(['S4']);
    });

    it('breaks: a refresh revives what had ended', () => {
      const revived = (at: number) =>
        thawed()
          .refreshed('p1:1', at, 400)
          .released('p1:1', at + 1);
      expect(broken(revived(510))).toEqual([]);
      expect(broken(revived(510.1))).toEqual(['S4']);
    });
  });
});

describe('L: another process takes over', () => {
  const lost = (event: 'killed' | 'frozen') => new Story().granted('p1:1', { at: 100 }).happened(event, 'p1', 200);
  /** 200 + 1000 + 100 + 400 */
  const latest = 1700;

  it.each(['killed', 'frozen'] as const)('keeps and breaks: the holder was %s', (event) => {
    const next = (at: number) => lost(event).denied('p2', 1301).granted('p2:2', { at });
    expect(broken(next(latest))).toEqual([]);
    expect(broken(next(latest + 0.1))).toEqual(['L']);
  });

  it('breaks: never; not judged: the history ends before it must be, or no process asks', () => {
    expect(
      broken(
        lost('killed')
          .denied('p2', 1301, 1300)
          .until(latest + 0.1),
      ),
    ).toEqual(['L']);
    expect(broken(lost('killed').denied('p2', 1301, 1300).until(latest))).toEqual([]);
    expect(broken(lost('killed').denied('p2', 1299).until(3000))).toEqual([]);
  });

  it('breaks: who asks waits in vain', () => {
    const waits = lost('killed').add({
      event: 'invoked',
      at: 300,
      process: 'p2',
      call: 'waits',
      semaphore: 'job',
      verb: 'acquire',
    });
    expect(broken(waits.until(latest + 0.1))).toEqual(['L']);
  });

  it('keeps: a fault puts it off, until it is over', () => {
    const fault = () => lost('killed').fault('fault-begun', 300).fault('fault-over', 2200).denied('p2', 3301);
    expect(broken(fault().granted('p2:2', { at: 3700 }))).toEqual([]);
    expect(broken(fault().granted('p2:2', { at: 3700.1 }))).toEqual(['L']);
  });

  it('keeps: the frozen one is thawed in time and goes on', () => {
    const story = lost('frozen').happened('thawed', 'p1', 1099).released('p1:1', 1099).denied('p2', 1301);
    expect(broken(story.until(3000))).toEqual([]);
  });

  it('keeps: others hold as many as there may be since an edit', () => {
    const story = new Story(2).granted('p1:1', { at: 100 }).granted('p2:2', { at: 100, slot: 1, remaining: 9000 });
    story.limited(150, 1).happened('killed', 'p1', 200).denied('p3', 1301, 1300);
    expect(broken(story.until(3000))).toEqual([]);
  });

  it('keeps: a process that died later had a permit, too, and an edit left only one', () => {
    const story = new Story(2).granted('p1:1', { at: 100 }).granted('p2:2', { at: 100, slot: 1 });
    const died = story.happened('frozen', 'p1', 200).refreshed('p2:2', 900).happened('killed', 'p2', 950);
    expect(broken(died.limited(960, 1).denied('p3', 1301).until(1900).granted('p3:3', { at: 2100 }))).toEqual([]);
  });

  it('keeps: when an edit left only one, the record still had a permit that was over for its holder', () => {
    const two = new Story(2).granted('p1:1', { at: 100 }).granted('p2:2', { at: 100, slot: 1, remaining: 1200 });
    const edited = two.happened('killed', 'p1', 200).ended('p2:2', 1300).limited(1300.1, 1).denied('p3', 1302);
    expect(broken(edited.granted('p3:3', { at: 1750 }))).toEqual([]);
  });

  it('breaks all the same while a process doubts the clocks, and shows why it does', () => {
    const late = lost('killed')
      .denied('p2', 1301)
      .suspected('p2', 'the clock jumped', 1302)
      .granted('p2:2', { at: 1800 });
    const { violations } = checkHistory(late.entries, OPTIONS);
    expect(violations.map(({ rule }) => rule)).toEqual(['L']);
    expect(violations[0]!.around.join('\n')).toContain('p2  suspected  reason the clock jumped');
  });

  it('reports how long it took, also when that is within what was promised', () => {
    const { figures } = checkHistory(lost('killed').granted('p2:2', { at: 1400 }).entries, OPTIONS);
    expect(figures.takeovers).toEqual({ count: 1, median: 1200, p99: 1200, max: 1200, unjudged: 0 });
  });
});

describe('M: no process counts on a membership that another one has judged to be over', () => {
  const judged = () => new Story().counted('p1', 'a', 100).judged('p2', 'a', 200).judged('p3', 'a', 210);

  it('keeps: it counted before, or counts on another one', () => {
    expect(broken(judged().counted('p1', 'b', 300))).toEqual([]);
    expect(checkHistory(judged().entries).figures.judged).toBe(1);
  });

  it('breaks: it still counts on it, and says who had judged it', () => {
    const { violations } = checkHistory(judged().counted('p1', 'a', 200.1).entries);
    expect(violations.map(({ rule, text }) => `${rule} ${text}`)).toEqual([
      'M p1 counts on its membership a, which p2 judged to be over at +0.200 s',
    ]);
  });
});
