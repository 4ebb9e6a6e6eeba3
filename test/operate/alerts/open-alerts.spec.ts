import { OpenAlerts } from '../../../lib/operate/alerts/open-alerts.js';
import { START, FakeTime } from '../../support/fake-time.js';

const MINUTE = 60_000;
const node = { group: 'default', acquirer: 'app1', instance: '0123456789abcdef' };
const failed = (at: number) => ({ kind: 'run-failed' as const, subject: 'job', sentence: 'it failed', since: at });

describe('messages about a trouble', () => {
  let time: FakeTime;
  let open: OpenAlerts;

  beforeEach(() => {
    time = new FakeTime();
    open = new OpenAlerts(node, time, { groupInterval: 5 * MINUTE, repeatInterval: 60 * MINUTE });
  });

  const pass = (ms: number) => time.freeze(ms);
  const due = () => open.due(START + time.monotonic()).map(({ status, count }) => [status, count]);

  it('are sent when it begins and when it ends', () => {
    open.occur(failed(START));
    expect(due()).toEqual([['firing', 1]]);
    expect(due()).toEqual([]);
    open.end(failed(START));
    expect(due()).toEqual([['resolved', 0]]);
    expect(due()).toEqual([]);
  });

  it('have one id, and tell when it began', () => {
    open.occur(failed(START));
    const [first] = open.due(START);
    pass(5 * MINUTE);
    open.occur(failed(START + 5 * MINUTE));
    const [second] = open.due(START);
    open.end(failed(START));
    const [last] = open.due(START + 7);
    expect([second, last]).toMatchObject([
      { id: first!.id, startsAt: START },
      { id: first!.id, endsAt: START + 7 },
    ]);
  });

  it('count what occurs each second once per interval', () => {
    const sent = Array.from({ length: 601 }, (_, second) => {
      if (second > 0) pass(1000);
      open.occur(failed(START + second));
      return due();
    }).flat();
    expect(sent).toEqual([
      ['firing', 1],
      ['firing', 300],
      ['firing', 300],
    ]);
  });

  it('are at most three per interval for a job that fails at every second tick', () => {
    const sent = Array.from({ length: 600 }, (_, second) => {
      if (second % 2 === 0) open.occur(failed(START + second));
      else open.end(failed(START));
      const messages = due();
      pass(1000);
      return messages;
    }).flat();
    expect(sent).toEqual([
      ['firing', 1],
      ['resolved', 0],
      ['firing', 150],
      ['resolved', 0],
    ]);
  });

  it('tell of what occurred and ended between two messages', () => {
    open.occur(failed(START));
    due();
    open.end(failed(START));
    due();
    open.occur(failed(START));
    open.end(failed(START));
    expect(due()).toEqual([]);
    pass(5 * MINUTE);
    expect(due()).toEqual([['resolved', 1]]);
    pass(5 * MINUTE);
    expect(due()).toEqual([]);
    expect(open.has(failed(START))).toBe(false);
  });

  it('are repeated while it lasts', () => {
    open.last(failed(START));
    due();
    pass(60 * MINUTE - 1);
    open.last(failed(START));
    expect(due()).toEqual([]);
    pass(1);
    expect(due()).toEqual([['firing', 0]]);
  });

  it('are none after another node took it over', () => {
    open.last(failed(START));
    due();
    open.forget(failed(START));
    open.end(failed(START));
    expect(due()).toEqual([]);
  });

  it('are none of a trouble that ended before its first message', () => {
    open.occur(failed(START));
    open.end(failed(START));
    expect(due()).toEqual([]);
    expect(open.has(failed(START))).toBe(false);
  });

  it('leave out more than 1000 troubles, and count them', () => {
    for (let job = 0; job < 1005; job += 1) open.occur({ ...failed(START), subject: `job ${job}` });
    expect(due()).toHaveLength(1000);
    expect(open.takeLeftOut()).toBe(5);
    expect(open.takeLeftOut()).toBe(0);
  });

  describe('when 1000 failed runs are open', () => {
    const job = (number: number) => ({ ...failed(START), subject: `job ${number}` });

    beforeEach(() => {
      for (let number = 0; number < 1000; number += 1) open.occur(job(number));
      due();
    });

    it('are sent about a new one: the job that has not failed for the longest time makes room, and is counted', () => {
      pass(5 * MINUTE);
      open.occur(job(0));
      open.occur(job(1000));
      expect(due()).toEqual([
        ['firing', 1],
        ['firing', 1],
      ]);
      expect([0, 1, 2, 1000].map((number) => open.has(job(number)))).toEqual([true, false, true, true]);
      expect(open.takeLeftOut()).toBe(1);
    });

    it('are not sent at each failure of jobs that drop each other by turns', () => {
      for (let second = 0; second < 299; second += 1) {
        pass(1000);
        for (let number = 1000; number < 1010; number += 1) open.occur(job(number));
      }
      expect(due()).toEqual([]);
      expect(open.takeLeftOut()).toBe(2990);
    });

    it('go on about those that were seen to last', () => {
      pass(5 * MINUTE);
      for (let number = 0; number < 1000; number += 1) open.last(job(number));
      open.occur(job(1000));
      expect(due()).toEqual([]);
      expect(open.takeLeftOut()).toBe(1);
    });

    it('are sent about each fault of the health', () => {
      for (const kind of ['store-lost', 'quorum-lost', 'no-leader', 'degraded'] as const) {
        open.last({ ...failed(START), kind, subject: '' });
      }
      expect(due()).toHaveLength(4);
      expect(open.takeLeftOut()).toBe(0);
      expect(open.has(job(0))).toBe(true);
    });
  });

  it('have the id of the job on all nodes, but an own one for the store', () => {
    const other = new OpenAlerts({ ...node, instance: 'fedcba9876543210' }, time, {
      groupInterval: 1,
      repeatInterval: 1,
    });
    const lost = { ...failed(START), kind: 'store-lost' as const };
    const [one, two] = [open, other].map((each) => {
      each.occur(failed(START));
      each.occur(lost);
      return each.due(START);
    });
    expect(one![0]!.id).toBe(two![0]!.id);
    expect(one![1]!.id).not.toBe(two![1]!.id);
    expect(one![1]!.groupKey).toBe(two![1]!.groupKey);
  });
});
