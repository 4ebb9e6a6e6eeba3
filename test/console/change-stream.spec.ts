import { type Driver, memory } from 'nestjs-gatekeeper';
import { ChangeStream, type Reader } from '../../lib/console/store/change-stream.js';
import { settled } from '../support/fake-time.js';

/** A reader that keeps up only as the test says. */
class SlowReader implements Reader {
  readonly said: { type: string; data: unknown }[] = [];
  isFast = true;
  #ready: () => void = () => undefined;

  send(type: string, data: unknown): boolean {
    this.said.push({ type, data: JSON.parse(JSON.stringify(data)) });
    return this.isFast;
  }
  onDrained(ready: () => void): void {
    this.#ready = ready;
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

  const begin = async (store: Driver = memory().open()) => {
    const reader = new SlowReader();
    const stream = new ChangeStream(store, reader);
    streams.push(stream);
    await stream.begin('a');
    return { reader, stream, store };
  };

  it('begins with word that it is open, and tells of changes in their order', async () => {
    const { reader, store } = await begin();
    await store.records.compareAndSet('a', undefined, '1');
    await store.records.compareAndSet('b', undefined, 'not asked for');
    await store.records.compareAndSet('a', '1', '2');
    await settled();
    expect(reader.said).toEqual([
      { type: 'open', data: { health: { connected: true, members: 1, quorum: 0 } } },
      { type: 'change', data: { key: 'a', text: '1' } },
      { type: 'change', data: { key: 'a', text: '2' } },
    ]);
  });

  it('tells how the store fares at each beat, unless its reader is behind', async () => {
    const { reader, stream, store } = await begin();
    stream.beat();
    expect(reader.said.at(-1)).toEqual({ type: 'beat', data: { health: store.health() } });
    reader.isFast = false;
    stream.beat();
    const { length } = reader.said;
    stream.beat();
    expect(reader.said).toHaveLength(length);
  });

  it('sends a slow reader only the last change of each key', async () => {
    const { reader, store } = await begin();
    reader.isFast = false;
    await store.records.compareAndSet('a', undefined, '0');
    for (let i = 0; i < 50; i++) await store.records.compareAndSet('a', String(i), String(i + 1));
    await store.records.compareAndSet('a2', undefined, 'other');
    await settled();
    expect(reader.changes).toEqual([{ key: 'a', text: '0' }]);
    reader.drain();
    expect(reader.changes.slice(1)).toEqual([
      { key: 'a', text: '50' },
      { key: 'a2', text: 'other' },
    ]);
  });

  it('keeps no more than a thousand: then anything may have changed', async () => {
    const { reader, store } = await begin();
    reader.isFast = false;
    for (let i = 0; i < 5000; i++) await store.records.compareAndSet(`a${i}`, undefined, 'text');
    await settled();
    reader.drain();
    expect(reader.changes.length).toBeLessThanOrEqual(1001);
    expect(reader.changes).toContainEqual({});
    expect(reader.changes.at(-1)).toEqual({ key: 'a4999', text: 'text' });
  });

  it('is silent once it is over', async () => {
    const { reader, stream, store } = await begin();
    await Promise.all([stream.end(), stream.end()]);
    await store.records.compareAndSet('a', undefined, '1');
    await settled();
    expect(reader.changes).toEqual([]);
    stream.beat();
    expect(reader.said.map(({ type }) => type)).toEqual(['open']);
  });
});
