/**
 * Fault: a listener that can't be put on a new connection is dropped for good. The client's log tells, and nothing else:
 *   no error, no event, no state.
 * Upstream: not reported
 * Versions: 5.6; the same in 5.7.0
 * Shown by: test/stores/hazelcast/own-client.spec.ts, "is lost when its client drops a listener"
 * Goes when: ListenerService tries again, or tells its caller.
 */

/** The source of the warning in the client's log. The store then takes its client for lost and makes another one. */
export const LISTENER_DROPPED = 'ListenerService';
