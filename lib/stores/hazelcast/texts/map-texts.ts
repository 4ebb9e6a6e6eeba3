import type { IMap } from 'hazelcast-client';
import type { Texts } from '../../../core/store/driver.js';
import { isUnreadable, textIn, textOf } from './foreign-value.js';

export type TextMap = IMap<string, unknown>;

/**
 * Texts in a map of one client. The member that owns an entry compares and writes in one operation, without a lock.
 *
 * Like all texts beside this file, it throws the client's own errors, and `Calls` maps them. A GatekeeperError means that
 * surely nothing was written.
 */
export class MapTexts implements Texts {
  constructor(readonly map: TextMap) {}

  read(key: string): Promise<string | undefined> {
    return textIn(this.map.get(key));
  }

  async readMany(keys: readonly string[]): Promise<Map<string, string>> {
    if (keys.length === 0) return new Map();
    const entries = await this.#readAll([...keys]);
    return new Map(entries.filter((entry): entry is [string, string] => entry[1] !== undefined));
  }

  /** Not async, which would cost three more promises per write. */
  compareAndSet(key: string, expected: string | undefined, next: string | undefined): Promise<boolean> {
    if (expected !== undefined && next !== undefined) return this.map.replaceIfSame(key, expected, next);
    if (expected !== undefined) return this.map.remove(key, expected).then((removed) => removed === true);
    if (next !== undefined) return this.map.putIfAbsent(key, next).then((found) => found === null, refused);
    return this.map.containsKey(key).then((isThere) => !isThere);
  }

  async #readAll(keys: string[]): Promise<[string, string | undefined][]> {
    try {
      const entries = await this.map.getAll(keys);
      return entries.map(([key, value]) => [key, value === null ? undefined : textOf(value)]);
    } catch (error) {
      if (!isUnreadable(error)) throw error;
      // One value of an unknown type makes the whole batch fail. So the values are read one by one.
      return Promise.all(keys.map(async (key): Promise<[string, string | undefined]> => [key, await this.read(key)]));
    }
  }
}

/** The answer of the members is a value of another program that this client can't read, so nothing was written. */
function refused(error: unknown): false {
  if (isUnreadable(error)) return false;
  throw error;
}
