import { afterEach, describe, expect, it } from '@jest/globals';
import { type RecordStore, memory } from 'nestjs-gatekeeper';
import { ChangeStream, type Sink } from '../../../lib/console/store/change-stream.js';
import { settled } from '../gatekeeper/fake-time.js';

/** A listener that keeps up only as the test says. */
class SlowSink implements Sink {
  readonly said: { type: string; data: unknown }[] = [];
  isFast = true;
  ended = 0;
  #ready: () => void = () => undefined;

  write(type: string, data: unknown): boolean {
    this.said.push({ type, data: JSON.parse(JSON.stringify(data)) });
    return this.isFast;
  }
  onDrained(ready: () => void): void {
    this.#ready = ready;
  }
  onClosed(): void {}
  end(): void {
    this.ended++;
  }
  drain(): void {
    this.isFast = true;
    this.#ready();
  }
  get changes(): unknown[] {
    return this.said.flatMap(({ type, data }) => (type === 'change' ? [data] : []));
  }
}

describe('a stream of changes', () => {
  const streams: ChangeStream[] = [];
  afterEach(() => Promise.all(streams.splice(0).map((stream) => stream.end())));

  const begin = async (store: RecordStore = memory().open()) => {
    const sink = new SlowSink();
    const stream = new ChangeStream(store, sink);
    streams.push(stream);
    await stream.begin('a');
    return { sink, stream, store };
  };

  it('begins with word that it is open, and tells of changes in their order', async () => {
    const { sink, store } = await begin();
    await store.compareAndSet('a', undefined, '1');
    await store.compareAndSet('b', undefined, 'not asked for');
    await store.compareAndSet('a', '1', '2');
    await settled();
    expect(sink.said).toEqual([
      { type: 'open', data: { health: { connected: true, members: 1, quorum: 0 } } },
      { type: 'change', data: { key: 'a', text: '1' } },
      { type: 'change', data: { key: 'a', text: '2' } },
    ]);
  });

  it('tells whoever does not keep up the last of each key only', async () => {
    const { sink, store } = await begin();
    sink.isFast = false;
    await store.compareAndSet('a', undefined, '0');
    for (let i = 0; i < 50; i++) await store.compareAndSet('a', String(i), String(i + 1));
    await store.compareAndSet('a2', undefined, 'other');
    await settled();
    expect(sink.changes).toEqual([{ key: 'a', text: '0' }]);
    sink.drain();
    expect(sink.changes.slice(1)).toEqual([
      { key: 'a', text: '50' },
      { key: 'a2', text: 'other' },
    ]);
  });

  it('keeps no more than a thousand: then anything may have changed', async () => {
    const { sink, store } = await begin();
    sink.isFast = false;
    for (let i = 0; i < 5000; i++) await store.compareAndSet(`a${i}`, undefined, 'text');
    await settled();
    sink.drain();
    expect(sink.changes.length).toBeLessThanOrEqual(1001);
    expect(sink.changes).toContainEqual({});
    expect(sink.changes.at(-1)).toEqual({ key: 'a4999', text: 'text' });
  });

  it('is silent once it is over, and ends what it writes to once', async () => {
    const { sink, stream, store } = await begin();
    await Promise.all([stream.end(), stream.end()]);
    await store.compareAndSet('a', undefined, '1');
    await settled();
    expect(sink.changes).toEqual([]);
    expect(sink.ended).toBe(1);
  });
});
