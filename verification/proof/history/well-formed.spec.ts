import { checkHistory } from './check-history.js';
import type { HistoryEntry } from './history.js';
import { Story } from './story.js';

const story = () => new Story().granted('p1:1', { at: 100, call: 'first' });
const found = ({ entries }: Story) => checkHistory(entries).violations.map(({ rule, text }) => `${rule} ${text}`);
const entry = { at: 200, process: 'p1', semaphore: 'job' };

const BROKEN: [what: string, entry: HistoryEntry, says: string][] = [
  ['an answer without a call', { ...entry, event: 'denied', call: 'x', reason: 'group' }, 'answers no call'],
  ['a second answer', { ...entry, event: 'denied', call: 'first', reason: 'group' }, 'is its second one'],
  ['a call twice', { ...entry, event: 'invoked', call: 'first', verb: 'acquire' }, 'was there before'],
  [
    'a release of an unknown permit',
    { ...entry, event: 'invoked', call: 'x', verb: 'release', permit: 'y' },
    'no process was granted',
  ],
  ['a release of no permit', { ...entry, event: 'invoked', call: 'x', verb: 'release' }, 'without saying which'],
  [
    'a refresh of an unknown permit',
    { ...entry, event: 'refreshed', permit: 'y', remaining: 1 },
    'no process was granted',
  ],
  [
    'the end of an unknown permit',
    { ...entry, event: 'ended', permit: 'y', reason: 'expired' },
    'no process was granted',
  ],
  ["the end of another's", { ...entry, process: 'p2', event: 'ended', permit: 'p1:1', reason: 'x' }, 'p1 was granted'],
  ['a thaw of what was not frozen', { at: 200, process: 'p1', event: 'thawed' }, 'had not been frozen'],
  ['the end of no fault', { at: 200, process: 'c', event: 'fault-over', fault: 'x' }, 'never began'],
];

describe('a history that contradicts itself', () => {
  it('is none: as it should be', () => {
    expect(found(story())).toEqual([]);
  });

  it.each(BROKEN)('%s', (_, broken, says) => {
    expect(found(story().add(broken))).toEqual([expect.stringMatching(new RegExp(`^H .*${says}`))]);
  });

  it('an answer to a call of another kind or another process', () => {
    const asked = () => story().add({ ...entry, event: 'invoked', call: 'x', verb: 'acquire' });
    const released = { ...entry, event: 'released', call: 'x', permit: 'p1:1' } as const;
    const misfit = [expect.stringContaining('does not fit')];
    expect(found(asked().add(released))).toEqual(misfit);
    const denied = { ...entry, event: 'denied', call: 'x', process: 'p2', reason: 'group' } as const;
    expect(found(asked().add(denied))).toEqual(misfit);
  });

  it('the dead and the frozen say something', () => {
    expect(found(story().happened('killed', 'p1', 150).denied('p1', 300))).toHaveLength(2);
    expect(found(story().happened('frozen', 'p1', 150).denied('p1', 300))).toHaveLength(2);
    expect(found(story().happened('frozen', 'p1', 150).happened('thawed', 'p1', 250).denied('p1', 300))).toEqual([]);
  });

  it('killed or frozen twice', () => {
    for (const event of ['killed', 'frozen'] as const) {
      expect(found(story().happened(event, 'p1', 150).happened(event, 'p1', 160))).toEqual([
        expect.stringContaining('twice'),
      ]);
    }
  });

  it('permits without a word of how many there may be', () => {
    const { entries } = story();
    expect(checkHistory(entries.slice(1)).violations[0]!.text).toContain('no entry says how many permits');
  });

  it('calls without an answer are counted, not complained of', () => {
    const { violations, figures } = checkHistory(
      story().add({ ...entry, event: 'invoked', call: 'x', verb: 'acquire' }).entries,
    );
    expect(violations).toEqual([]);
    expect(figures.failures).toEqual({ unanswered: 1 });
  });
});
