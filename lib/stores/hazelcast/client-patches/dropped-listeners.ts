/**
 * Fault: a listener that can't be added to a new connection is dropped for good. Only the client's log shows this;
 *   there is no error, no event and no state.
 * Upstream: not reported
 * Versions: 5.6; the same in 5.7.0
 * Shown by: test/stores/hazelcast/own-client.spec.ts, "is lost when its client drops a listener"
 * Goes when: ListenerService tries again, or notifies its caller.
 */

/** Source of the warning in the client's log. After such a warning, the store replaces its client. */
export const LISTENER_DROPPED = 'ListenerService';
