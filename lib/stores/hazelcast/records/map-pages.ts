import type { Client as HazelcastClient, IMap, Predicate } from 'hazelcast-client';
import loadHazelcastClient from '../../../../load-hazelcast-client.cjs';

/** Keys of a map up to this number are one page: all of them are decoded within some ms. */
const SMALL = 2000;
/** Keys on a page of a larger map, about. */
const PAGE = 500;

interface KeyPage {
  readonly keys: string[];
  readonly next?: string;
}

/**
 * Pages through the keys of a map, by partition: a large map's `keySet()` would hold up the event loop for a tenth of a
 * second with 100,000 keys, and paging by predicate makes the members sort all of them for each page.
 *
 * The keys are filtered here and not by a predicate: one key that is a number makes a predicate on `__key` fail for all
 * of them (ClassCastException on the member).
 */
export class MapPages {
  constructor(
    private readonly map: IMap<string, unknown>,
    /** A key for each partition, in the order of the partitions. */
    private readonly partitionKeys: () => readonly string[],
  ) {}

  /** @param after `next` of the page before: the first partition, and how many of them make a page */
  async keys(prefix: string, after?: string): Promise<KeyPage> {
    const isMine = (key: unknown): key is string => typeof key === 'string' && key.startsWith(prefix);
    const size = after === undefined ? await this.map.size() : Infinity;
    if (size <= SMALL) return { keys: [...(await this.map.keySet())].filter(isMine) };
    const partitions = this.partitionKeys();
    const [from, count] = after?.split('/').map(Number) ?? [0, Math.ceil((PAGE * partitions.length) / size)];
    const to = from! + count!;
    const sets = await Promise.all(partitions.slice(from, to).map((key) => this.#keysBeside(key)));
    const keys = sets.flatMap((set) => [...set].filter(isMine));
    return to < partitions.length ? { keys, next: `${to}/${count}` } : { keys };
  }

  /** All keys of the partition that `key` belongs to, whether it stands in the map or not. */
  #keysBeside(key: string): Promise<Iterable<unknown>> {
    return this.map.keySetWithPredicate(inPartitionOf(key));
  }
}

/** The members' PartitionPredicate, for which the client has no function. Members from 5.2.5 to 5.7.0 were tried. */
function inPartitionOf(key: string): Predicate {
  const everything = loadHazelcastClient().Predicates.alwaysTrue();
  const predicate = {
    factoryId: -20,
    classId: 16,
    writeData(out: { writeObject(value: unknown): void }): void {
      out.writeObject(key);
      out.writeObject(everything);
    },
    // It is only sent.
    readData(): void {},
  };
  return predicate as Predicate;
}

/** A key for each partition of the client's cluster. */
export function partitionKeys(client: HazelcastClient): readonly string[] {
  const partitions = client.getPartitionService();
  const keys: string[] = [];
  for (let missing = partitions.getPartitionCount(), next = 0; missing > 0; next++) {
    const partition = partitions.getPartitionId(`${next}`);
    if (keys[partition] === undefined) missing--;
    keys[partition] ??= `${next}`;
  }
  return keys;
}
