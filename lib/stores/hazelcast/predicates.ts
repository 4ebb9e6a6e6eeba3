import type { Predicate } from 'hazelcast-client';
import loadHazelcastClient from '../../../load-hazelcast-client.cjs';

/** Writes the members' serialized form of a predicate. */
interface Output {
  writeObject(value: unknown): void;
  writeInt(value: number): void;
  writeString(value: string | null): void;
}

/** The members' factory of predicates (PredicateDataSerializerHook). */
const FACTORY = -20;

/**
 * The members' PartitionPredicate, for which the client has no function: matches only in the partition of `key`. `key`
 * itself need not be in the map. Checked with members from 5.2.5 to 5.7.0.
 *
 * @param target must match too; default: everything
 */
export function inPartitionOf(key: string, target: Predicate = everything()): Predicate {
  return written(16, (out) => {
    out.writeObject(key);
    out.writeObject(target);
  });
}

/**
 * The members' PagingPredicate: matches only the entries with the `count` smallest values that match `target`. The client
 * has it too, but sends it only by itself, and not as the target of {@link inPartitionOf}.
 *
 * @param isNamespaced whether the name of a namespace for user code comes first, as members of 5.4 read it. All others read
 *   it only in messages of members
 */
export function smallestValues(count: number, target: Predicate, isNamespaced: boolean): Predicate {
  return written(15, (out) => {
    if (isNamespaced) out.writeString(null);
    out.writeObject(target);
    out.writeObject(null); // no comparator, so values are compared by their own order
    out.writeInt(0); // the first page
    out.writeInt(count);
    out.writeString('VALUE');
    out.writeInt(0); // no anchors
  });
}

function everything(): Predicate {
  return loadHazelcastClient().Predicates.alwaysTrue();
}

function written(classId: number, writeData: (out: Output) => void): Predicate {
  // The predicate is only sent, never read.
  const predicate = { factoryId: FACTORY, classId, writeData, readData: () => undefined };
  return predicate as Predicate;
}
