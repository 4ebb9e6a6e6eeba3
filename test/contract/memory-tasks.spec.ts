import { expect, it } from '@jest/globals';
import { memory } from '../../lib/stores/memory/index.js';
import { describeTaskStorageContract } from './task-storage.contract.js';

describeTaskStorageContract('memory()', () => {
  const store = memory();
  return { open: () => store.open(), stop: async () => undefined };
});

it('memory() shares no tasks with another memory()', async () => {
  await memory().open().tasks!.tasks.create('key', 'text');
  expect(await memory().open().tasks!.tasks.read('key')).toBeUndefined();
});
