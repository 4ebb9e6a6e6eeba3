import { describe, expect, it } from '@jest/globals';
import type { IMap } from 'hazelcast-client';
import { MapRecords } from '../../../lib/stores/hazelcast/records/map-records.js';

interface Between {
  readonly from: string;
  readonly to: string;
}

/** A map of a member, as far as many keys are read; notes the calls. */
function fakeMap(entries: ReadonlyMap<string, unknown>, { size = entries.size, fails = false } = {}) {
  const calls: string[] = [];
  const map = {
    size: async () => (calls.push('size'), size),
    getAll: async (keys: string[]) => (calls.push('getAll'), keys.map((key) => [key, entries.get(key) ?? null])),
    keySetWithPredicate: async (range: Between) => {
      calls.push('keys');
      if (fails) throw new Error('java.lang.ClassCastException');
      return within(range).map(([key]) => key);
    },
    entrySetWithPredicate: async (range: Between) => (calls.push('query'), within(range)),
  };
  const within = ({ from, to }: Between) => [...entries].filter(([key]) => from <= key && key <= to);
  return { calls, records: new MapRecords(map as unknown as IMap<string, unknown>, () => []) };
}

const KEYS = Array.from({ length: 512 }, (_, shard) => `shard:${shard}`);
const PRESENT = KEYS.slice(12);
const TEXTS = new Map(PRESENT.map((key) => [key, `text of ${key}`]));

describe('many keys of a map', () => {
  it('come with three calls', async () => {
    const { calls, records } = fakeMap(new Map([...TEXTS, ['shard:77x', 'another'], ['semaphore:x', 'another']]));
    expect(await records.readMany(KEYS)).toEqual(TEXTS);
    expect(calls).toEqual(['size', 'keys', 'query']);
  });

  it('are read by partition if many others stand between them, which may be large', async () => {
    const others = Array.from({ length: 525 }, (_, i): [string, string] => [`shard:7x${i}`, 'large']);
    const { calls, records } = fakeMap(new Map([...TEXTS, ...others]));
    expect(await records.readMany(KEYS)).toEqual(TEXTS);
    expect(calls).toEqual(['size', 'keys', 'getAll']);
  });

  it('are read by partition if the query fails', async () => {
    const { calls, records } = fakeMap(TEXTS, { fails: true });
    expect(await records.readMany(KEYS)).toEqual(TEXTS);
    expect(calls).toEqual(['size', 'keys', 'getAll']);
  });

  it.each([
    ['are read by partition if the map is large', KEYS, 10_001, ['size', 'getAll']],
    ['are read by partition if they are few', KEYS.slice(-8), 500, ['getAll']],
    ['are read by partition if the map is large for their number', KEYS.slice(-12), 1201, ['size', 'getAll']],
    ['come with a query if the map is small for their number', KEYS.slice(-12), 1200, ['size', 'keys', 'query']],
  ])('%s', async (_what, keys, size, expected) => {
    const { calls, records } = fakeMap(TEXTS, { size });
    const found = await records.readMany(keys);
    expect([...found.keys()].toSorted()).toEqual(keys.filter((key) => TEXTS.has(key)).toSorted());
    expect(calls).toEqual(expected);
  });
});
