import { memory } from '../../lib/stores/memory/index.js';
import { describeTaskStorageContract } from './on-jest.js';

describeTaskStorageContract({
  name: 'memory()',
  prepare: () => {
    const store = memory();
    return { open: (options) => store.open(options), stop: async () => undefined };
  },
});

it('memory() shares no tasks with another memory()', async () => {
  await memory().open().tasks!.tasks.create('key', 'text');
  expect(await memory().open().tasks!.tasks.read('key')).toBeUndefined();
});
