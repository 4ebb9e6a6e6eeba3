/**
 * Fault: a client that is running takes no lifecycle listener: they are meant to stand in its config. Its
 *   LifecycleService is an EventEmitter, which its types hide.
 * Upstream: not reported
 * Versions: 5.6; the same in 5.7.0. Of a client that looks otherwise inside, a loss is noticed by failing calls only,
 *   and members are counted too high until then.
 * Shown by: test/stores/hazelcast/given-client.spec.ts, "is lost when it loses the cluster"
 * Goes when: LifecycleService has a public way to add and remove listeners.
 */
import type { EventEmitter } from 'node:events';
import type { Client as HazelcastClient, LifecycleService, LifecycleState } from 'hazelcast-client';

const LIFECYCLE_EVENT = 'lifecycleEvent';

/** @returns ends it */
export function onLifecycle(client: HazelcastClient, listener: (state: LifecycleState) => void): () => void {
  const lifecycle = client.getLifecycleService() as LifecycleService & Partial<EventEmitter>;
  lifecycle.on?.(LIFECYCLE_EVENT, listener);
  return () => void lifecycle.off?.(LIFECYCLE_EVENT, listener);
}
