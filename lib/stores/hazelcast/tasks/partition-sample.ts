import type { IMap, Predicate } from 'hazelcast-client';
import { inPartitionOf, smallestValues } from '../predicates.js';

/** By which a member says that it can't read a query. */
const UNREADABLE = /^Problem while reading DataSerializable/;

/**
 * Reads the smallest values of one partition of a map. Members of 5.4 want the query in a form of their own, the newest ones
 * of the open-source edition with a CP Subsystem. They refuse the usual form, and others refuse theirs. So whichever was
 * right the last time is tried first.
 */
export class PartitionSample {
  #isNamespaced = false;

  /** @param key of any entry of the partition, which need not be there */
  async read(map: IMap<string, unknown>, key: string, count: number, target: Predicate): Promise<unknown[]> {
    const read = async (isNamespaced: boolean) =>
      map.valuesWithPredicate(inPartitionOf(key, smallestValues(count, target, isNamespaced)));
    const former = this.#isNamespaced;
    try {
      return [...(await read(former))];
    } catch (error) {
      if (!UNREADABLE.test((error as Error).message)) throw error;
      const values = await read(!former);
      this.#isNamespaced = !former;
      return [...values];
    }
  }
}
