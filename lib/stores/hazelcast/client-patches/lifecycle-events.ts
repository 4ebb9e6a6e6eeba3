/**
 * Fault: a running client accepts no lifecycle listener; only its config does. Its LifecycleService is an EventEmitter,
 *   which its types hide.
 * Upstream: not reported
 * Versions: 5.6; the same in 5.7.0. With a client that is built differently, a loss is noticed only by failing calls,
 *   and until then too many members are counted.
 * Shown by: test/stores/hazelcast/given-client.spec.ts, "is lost when it loses the cluster"
 * Goes when: LifecycleService has a public way to add and remove listeners.
 */
import type { EventEmitter } from 'node:events';
import type { Client as HazelcastClient, LifecycleService, LifecycleState } from 'hazelcast-client';

const LIFECYCLE_EVENT = 'lifecycleEvent';

/** @returns a function that removes the listener */
export function onLifecycle(client: HazelcastClient, listener: (state: LifecycleState) => void): () => void {
  const lifecycle = client.getLifecycleService() as LifecycleService & Partial<EventEmitter>;
  lifecycle.on?.(LIFECYCLE_EVENT, listener);
  return () => void lifecycle.off?.(LIFECYCLE_EVENT, listener);
}
