import { describe, expect, it } from '@jest/globals';
import type { IMap } from 'hazelcast-client';
import { MapRecords } from '../../../lib/stores/hazelcast/records/map-records.js';

/** A map of a member, as far as many keys are read; notes the calls. */
function fakeMap(entries: ReadonlyMap<string, unknown>, { size = entries.size, fails = false } = {}) {
  const calls: string[] = [];
  const map = {
    size: async () => (calls.push('size'), size),
    getAll: async (keys: string[]) => (calls.push('getAll'), keys.map((key) => [key, entries.get(key) ?? null])),
    entrySetWithPredicate: async () => {
      calls.push('query');
      if (fails) throw new Error('java.lang.ClassCastException');
      return [...entries];
    },
  };
  return { calls, records: new MapRecords(map as unknown as IMap<string, unknown>, () => []) };
}

const KEYS = Array.from({ length: 512 }, (_, shard) => `shard:${shard}`);
const PRESENT = KEYS.slice(12);
const TEXTS = new Map(PRESENT.map((key) => [key, `text of ${key}`]));

describe('many keys of a map', () => {
  it('come with two calls, without entries that stand between them', async () => {
    const { calls, records } = fakeMap(new Map([...TEXTS, ['shard:77x', 'another']]));
    expect(await records.readMany(KEYS)).toEqual(TEXTS);
    expect(calls).toEqual(['size', 'query']);
  });

  it('are read by partition if the query fails', async () => {
    const { calls, records } = fakeMap(TEXTS, { fails: true });
    expect(await records.readMany(KEYS)).toEqual(TEXTS);
    expect(calls).toEqual(['size', 'query', 'getAll']);
  });

  it.each([
    ['the map is large', KEYS, 10_001, ['size', 'getAll']],
    ['they are few', KEYS.slice(0, 99), 600, ['getAll']],
  ])('are read by partition if %s', async (_why, keys, size, expected) => {
    const { calls, records } = fakeMap(TEXTS, { size });
    expect((await records.readMany(keys)).size).toBe(keys.length - 12);
    expect(calls).toEqual(expected);
  });
});
