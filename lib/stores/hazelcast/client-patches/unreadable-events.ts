/**
 * Fault: the client deserializes the key and the value of an event outside of any promise. One Java object in the map
 *   would end the process of every node with an uncaught RangeError.
 * Upstream: https://github.com/hazelcast/hazelcast-nodejs-client/pull/957 made the RangeError; that it is uncaught in
 *   an event is not reported.
 * Versions: 5.6; the same in 5.7.0
 * Shown by: test/contract/hazelcast-foreign-values.spec.ts, "may have keys that are no text"
 * Goes when: the client catches what an event handler throws.
 */
import type { Predicate } from 'hazelcast-client';
import loadHazelcastClient from '../../../../load-hazelcast-client.cjs';

/**
 * Matches keys that are text: the members keep events of other keys to themselves. For the same reason a listener asks
 * for events without values, and reads the text by a call of its own.
 */
export function textKeys(): Predicate {
  return loadHazelcastClient().Predicates.like('__key', '%');
}
