import type { Client as HazelcastClient, Predicate } from 'hazelcast-client';
import loadHazelcastClient from '../../../../load-hazelcast-client.cjs';
import type { OrderedCollection, TextEntry } from '../../../core/store/driver.js';
import { inPartitionOf, smallestValues } from '../predicates.js';
import { MapTexts, type TextMap } from './map-texts.js';

/** By which a member says that it can't read a query. */
const UNREADABLE = /^Problem while reading DataSerializable/;

/**
 * Texts in a map with a sorted index of its values. The index compares Java strings, so by UTF-16 units, as JavaScript
 * does. It takes about as much memory as the texts.
 */
export class SortedTexts extends MapTexts implements OrderedCollection {
  /** Which form of a query the members read, see {@link #smallest}. */
  #isNamespaced = false;

  private constructor(
    map: TextMap,
    private readonly client: HazelcastClient,
  ) {
    super(map);
  }

  /**
   * Adds the index. Call this for each session, because members that all restarted have forgotten it. If it is there
   * already, the members do nothing.
   */
  static async open(client: HazelcastClient, name: string): Promise<SortedTexts> {
    const map = await client.getMap<string, unknown>(name);
    await map.addIndex({ type: 'SORTED', attributes: ['this'] });
    return new SortedTexts(map, client);
  }

  /**
   * Finds the smallest texts of a range, without asking for all matches: members collect and sort all matches even for one
   * page of them (5.8 s of 1,000,000, measured with 5.6.0). So the range is cut into windows with about as many matches as
   * are wanted.
   *
   * The end of a window comes from a sample: the smallest matches of one partition. Keys are spread over the partitions by
   * their hash, so up to the n-th of these matches there are about n times as many matches as there are partitions,
   * whatever the texts look like. For the sample, the member looks at all texts of one partition (2 ms if there are
   * 1,000,000 in all).
   *
   * @returns the entries by their text, equal texts in any order
   */
  async range(from: string, to: string, limit: number): Promise<TextEntry[]> {
    const partitions = this.client.getPartitionService().getPartitionCount();
    // A text that grows during the search may be in two windows, with the same key.
    const found = new Map<string, TextEntry>();
    for (let begin = from; begin < to && found.size < limit;) {
      const wanted = limit - found.size;
      const end = await this.#endOfWindow(begin, to, wanted / partitions);
      const last = wanted < partitions ? await this.#lastWanted(begin, end, wanted) : end;
      for (const entry of last === undefined ? [] : await this.#entries(begin, last)) {
        found.delete(entry.key);
        if (entry.text < to) found.set(entry.key, entry);
      }
      begin = `${last ?? end}\u0000`; // the next string in the order
    }
    return [...found.values()].slice(0, limit);
  }

  /**
   * The last text of a window from `from` with roughly as many texts as wanted, or more; `to` if there are not many more.
   *
   * @param expected number of texts that are wanted per partition
   */
  async #endOfWindow(from: string, to: string, expected: number): Promise<string> {
    // Matches in a partition vary by about the root of their expected number. If there are too few in the window, another
    // window follows.
    const count = Math.round(1 + expected + Math.sqrt(expected));
    const texts = (await this.#smallest(count, between(from, to))).filter((text) => typeof text === 'string');
    return texts.toSorted()[count - 1] ?? to;
  }

  /**
   * Reads the smallest values of one partition, another one each time, because one may be an exception. Members of 5.4 want
   * the query in a form of their own, the newest ones of the open-source edition with a CP Subsystem. They refuse the usual
   * form, and others refuse theirs. So whichever was right the last time is tried first.
   */
  async #smallest(count: number, target: Predicate): Promise<unknown[]> {
    const key = String(Math.random()); // of any entry of the partition, which need not be there
    const read = async (isNamespaced: boolean) => [
      ...(await this.map.valuesWithPredicate(inPartitionOf(key, smallestValues(count, target, isNamespaced)))),
    ];
    const former = this.#isNamespaced;
    try {
      return await read(former);
    } catch (error) {
      if (!UNREADABLE.test((error as Error).message)) throw error;
      const values = await read(!former);
      this.#isNamespaced = !former;
      return values;
    }
  }

  /**
   * The last of the first texts of a window; its end if it has fewer, and undefined if it is empty. A window has about as
   * many texts as there are partitions, and large texts take long to read: so only as many are read as are wanted.
   */
  async #lastWanted(from: string, to: string, limit: number): Promise<string | undefined> {
    const { Predicates } = loadHazelcastClient();
    const texts = [...(await this.map.valuesWithPredicate(Predicates.paging(between(from, to), limit)))];
    return texts.length === 0 ? undefined : ((texts.at(limit - 1) as string | undefined) ?? to);
  }

  /** All entries with `from <= text <= to`, in the order of their texts. */
  async #entries(from: string, to: string): Promise<TextEntry[]> {
    const entries = await this.map.entrySetWithPredicate(between(from, to));
    return entries
      .map(([key, text]) => ({ key, text: text as string }))
      .toSorted((one, other) => (one.text < other.text ? -1 : Number(one.text > other.text)));
  }
}

const between = (from: string, to: string) => loadHazelcastClient().Predicates.between('this', from, to);
