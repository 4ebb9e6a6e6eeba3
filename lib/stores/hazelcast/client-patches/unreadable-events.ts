/**
 * Fault: the client deserializes the key and the value of an event outside of any promise. One Java object in the map
 *   would end the process of every node with an uncaught RangeError.
 * Upstream: https://github.com/hazelcast/hazelcast-nodejs-client/pull/957 introduced the RangeError. It is not reported
 *   that the error is uncaught in events.
 * Versions: 5.6; the same in 5.7.0
 * Shown by: verification/servers/contract/hazelcast-foreign-values.spec.ts, "may have keys that are no text"
 * Goes when: the client catches what an event handler throws.
 */
import type { Predicate } from 'hazelcast-client';
import loadHazelcastClient from '../../../../load-hazelcast-client.cjs';

/**
 * Matches keys that are text, so that the members do not send events of other keys. For the same reason a listener asks
 * for events without values, and reads the text in a separate call.
 */
export function textKeys(): Predicate {
  return loadHazelcastClient().Predicates.like('__key', '%');
}
