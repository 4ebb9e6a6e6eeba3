import { ChangeAnnouncer } from '../../../lib/core/store/change-announcer.js';
import { PrefixWatches } from '../../../lib/core/store/prefix-watches.js';
import type { RecordChange } from '../../../lib/core/store/driver.js';
import { eventually } from '../../contract/eventually.js';

function announcerOver(read: (key: string) => Promise<string | undefined>) {
  const [watches, changes]: [PrefixWatches, RecordChange[]] = [new PrefixWatches(), []];
  void watches.add('watched:', (change) => changes.push(change));
  let reads = 0;
  const counted = (key: string) => {
    reads += 1;
    return read(key);
  };
  return { announcer: new ChangeAnnouncer(watches, counted), changes, reads: () => reads };
}

describe('A change', () => {
  it('is reported with the text, or with none when it was removed', async () => {
    const { announcer, changes } = announcerOver(async (key) => (key === 'watched:a' ? 'text' : undefined));
    await announcer.changed('watched:a');
    await announcer.changed('watched:b');
    expect(changes).toEqual([{ key: 'watched:a', text: 'text' }, { key: 'watched:b' }]);
  });

  it('of a key that is not watched is not read', async () => {
    const { announcer, reads } = announcerOver(async () => 'text');
    await announcer.changed('other:a');
    expect(reads()).toBe(0);
  });

  it('that comes many times during a read is read once more, and the latest text is reported last', async () => {
    const [texts, answers]: [string[], ((text: string) => void)[]] = [['old', 'latest'], []];
    const read = () => new Promise<string>((resolve) => answers.push(resolve));
    const { announcer, changes, reads } = announcerOver(read);
    const first = announcer.changed('watched:a');
    for (let i = 0; i < 100; i += 1) await announcer.changed('watched:a');
    answers[0]!(texts[0]!);
    await eventually('a second read', () => answers.length === 2);
    answers[1]!(texts[1]!);
    await first;
    expect(changes.map(({ text }) => text)).toEqual(texts);
    expect(reads()).toBe(2);
  });

  it('that comes with its text during a read is not followed by the older text of that read', async () => {
    const answers: ((text: string) => void)[] = [];
    const read = () => new Promise<string>((resolve) => answers.push(resolve));
    const { announcer, changes } = announcerOver(read);
    const first = announcer.changed('watched:a');
    await announcer.changed('watched:a', 'latest');
    answers[0]!('old');
    await eventually('a second read', () => answers.length === 2);
    answers[1]!('latest');
    await first;
    expect(changes.at(-1)).toEqual({ key: 'watched:a', text: 'latest' });
  });

  it('that can not be read is reported without a key, and the next one is read again', async () => {
    let broken = true;
    const { announcer, changes } = announcerOver(async () => {
      if (broken) throw new Error('offline');
      return 'text';
    });
    await announcer.changed('watched:a');
    broken = false;
    await announcer.changed('watched:a');
    expect(changes).toEqual([{}, { key: 'watched:a', text: 'text' }]);
  });
});
