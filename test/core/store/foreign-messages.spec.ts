import { ForeignMessages } from '../../../lib/core/store/foreign-messages.js';
import { FakeTime } from '../../support/fake-time.js';

function foreign() {
  const time = new FakeTime();
  const seen = { refreshed: 0, changed: [] as string[], offered: [] as string[], counts: [] as number[] };
  const messages = new ForeignMessages(
    {
      refresh: async () => void seen.refreshed++,
      changed: (key) => seen.changed.push(key),
      offered: (queue) => seen.offered.push(queue),
      counted: (count) => seen.counts.push(count),
    },
    time,
  );
  return { time, messages, seen };
}

describe('Unproven messages', () => {
  it('wake at once, after the key was read again', async () => {
    const { time, messages, seen } = foreign();
    messages.note({ key: 'semaphore:job' });
    expect(seen).toMatchObject({ refreshed: 1, changed: [] });
    await time.advance(0);
    expect(seen.changed).toEqual(['semaphore:job']);
  });

  it('wake a key and a queue once a second, however many come', async () => {
    const { time, messages, seen } = foreign();
    for (let ms = 0; ms < 10_000; ms += 10) {
      for (let i = 0; i < 100; i++) messages.note(i % 2 ? { key: 'job' } : { queue: 'mail.normal' });
      await time.advance(10);
    }
    expect(seen.refreshed).toBeLessThanOrEqual(12);
    expect(seen.changed.length).toBeLessThanOrEqual(12);
    expect(seen.offered.length).toBeLessThanOrEqual(12);
  });

  it('wake at most 500 keys a second, and none that is too long for a record', async () => {
    const { time, messages, seen } = foreign();
    for (let i = 0; i < 10_000; i++) messages.note({ key: `job ${i}` });
    messages.note({ key: 'x'.repeat(1001) });
    await time.advance(1000);
    expect(seen.changed).toHaveLength(501);
    await time.advance(10_000);
    expect(seen.changed).toHaveLength(501);
  });

  it('are counted once a minute, and all of them', async () => {
    const { time, messages, seen } = foreign();
    for (let second = 0; second < 60; second++) {
      for (let i = 0; i < 1000; i++) messages.note();
      await time.advance(1000);
    }
    expect(seen.counts).toEqual([1000]);
    await time.advance(60_000);
    expect(seen.counts).toEqual([1000, 59_000]);
  });

  it('leave no timer when they have ended, nor after the store was closed', async () => {
    const { time, messages, seen } = foreign();
    messages.note({ key: 'job' });
    await time.advance(3000);
    expect([time.pending, seen.counts]).toEqual([0, [1]]);
    messages.note({ key: 'job' });
    messages.close();
    messages.note({ key: 'job' });
    expect(time.pending).toBe(0);
  });
});
