import type { IMap } from 'hazelcast-client';
import { listTexts } from './list-texts.js';
import type { Records } from './records.js';

/** Optimistic: the entry's owner compares and writes in one operation, and nobody locks anything. */
export class MapRecords implements Records {
  constructor(readonly map: IMap<string, unknown>) {}

  get(key: string): Promise<unknown> {
    return this.map.get(key);
  }

  async compareAndSet(key: string, expected: string | undefined, next: string): Promise<boolean> {
    return expected === undefined
      ? (await this.map.putIfAbsent(key, next)) === null
      : this.map.replaceIfSame(key, expected, next);
  }

  list(prefix: string): Promise<Map<string, string>> {
    return listTexts(this.map, prefix);
  }
}
