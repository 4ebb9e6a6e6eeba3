import { systemRandomness } from '../../../lib/core/async/random-ids.js';

test('ids of many processes are different, and of characters that no command line takes for an option', () => {
  const ids = Array.from({ length: 2_000 }, systemRandomness).flatMap((random) => [random.id(), random.id()]);

  expect(new Set(ids).size).toBe(4_000);
  expect(ids.filter((id) => !/^[a-z0-9]+\.[a-z0-9]+$/.test(id))).toEqual([]);
});

test('processes have ids of 16 hexadecimal digits', () => {
  const ids = Array.from({ length: 2_000 }, () => systemRandomness().instance());

  expect(new Set(ids).size).toBe(2_000);
  expect(ids.filter((id) => !/^[0-9a-f]{16}$/.test(id))).toEqual([]);
});
