import { memory } from '../../lib/stores/memory/index.js';
import { describeStoreContract } from './on-jest.js';

describeStoreContract({
  name: 'memory()',
  lacks: { outage: 'it has no server' },
  prepare: () => {
    const store = memory();
    return { open: (options) => store.open(options), stop: async () => undefined };
  },
});

describe('memory()', () => {
  it('shares nothing with another memory()', async () => {
    await memory().open().records.compareAndSet('key', undefined, 'text');
    await memory().open().tasks.compareAndSet('key', undefined, 'text');
    expect(await memory().open().records.read('key')).toBeUndefined();
    expect(await memory().open().tasks.read('key')).toBeUndefined();
  });

  it('reads the clock that it was given', async () => {
    let time = 1000;
    const store = memory({ clock: () => time }).open();
    expect(await store.now()).toEqual({ time: 1000, member: 'memory' });
    time = 500;
    expect(await store.now()).toEqual({ time: 500, member: 'memory' });
  });
});
