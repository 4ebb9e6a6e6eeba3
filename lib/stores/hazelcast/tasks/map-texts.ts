import type { IMap } from 'hazelcast-client';
import type { SortedTexts, TextEntry, Texts } from '../../../core/store/task-storage.js';
import { isUnreadable, textOf, unreadableText } from '../records/foreign-value.js';
import { MapRecords } from '../records/map-records.js';
import type { Session } from '../session.js';
import { oncePerSession, type TaskCalls } from './task-calls.js';
import { PartitionSample, textRange } from './text-range.js';

type TextMap = IMap<string, unknown>;

/** Texts in a map. The member that owns an entry compares and writes in one operation. */
export class MapTexts implements Texts {
  protected readonly map: (session: Session) => Promise<TextMap>;

  constructor(
    readonly name: string,
    protected readonly calls: TaskCalls,
  ) {
    this.map = oncePerSession((session) => this.open(session));
  }

  read(key: string): Promise<string | undefined> {
    return this.calls.reading(async (session) => {
      try {
        return present(await (await this.map(session)).get(key));
      } catch (error) {
        if (isUnreadable(error)) return unreadableText(error);
        throw error;
      }
    });
  }

  readMany(keys: readonly string[]): Promise<Map<string, string>> {
    return this.calls.reading(async (session) => new MapRecords(await this.map(session), () => []).readMany(keys));
  }

  create(key: string, text: string): Promise<string | undefined> {
    return this.calls.writing(async (session) => {
      try {
        return present(await (await this.map(session)).putIfAbsent(key, text));
      } catch (error) {
        // The answer is a value of another program, so nothing was written.
        if (isUnreadable(error)) return unreadableText(error);
        throw error;
      }
    });
  }

  replace(key: string, expected: string, next: string): Promise<boolean> {
    return this.calls.writing(async (session) => (await this.map(session)).replaceIfSame(key, expected, next));
  }

  remove(key: string, expected: string): Promise<boolean> {
    return this.calls.writing(async (session) => (await (await this.map(session)).remove(key, expected)) === true);
  }

  protected open({ client }: Session): Promise<TextMap> {
    return client.getMap<string, unknown>(this.name);
  }
}

/**
 * Texts in a map with a sorted index of its values. The index compares Java strings, so by UTF-16 units, as JavaScript
 * does. It takes about as much memory as the texts.
 */
export class SortedMapTexts extends MapTexts implements SortedTexts {
  readonly #sample = new PartitionSample();

  range(from: string, to: string, limit: number): Promise<TextEntry[]> {
    return this.calls.reading(async (session) => {
      const partitions = session.client.getPartitionService().getPartitionCount();
      return textRange({ map: await this.map(session), partitions, sample: this.#sample }, { from, to, limit });
    });
  }

  /**
   * Adds the index for each session, because members that all restarted have forgotten it. If it is there already, the
   * members do nothing.
   */
  protected override async open(session: Session): Promise<TextMap> {
    const map = await super.open(session);
    await map.addIndex({ type: 'SORTED', attributes: ['this'] });
    return map;
  }
}

function present(value: unknown): string | undefined {
  return value === null ? undefined : textOf(value);
}
