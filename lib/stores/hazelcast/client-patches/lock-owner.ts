/**
 * Fault: to the members, all flows of one Node.js client are one owner of locks, because the client sends a constant
 *   thread id. So a flow would get a lock that another flow holds.
 * Upstream: https://github.com/hazelcast/hazelcast-nodejs-client/issues/696 (open)
 * Versions: 5.6; the same in 5.7.0
 * Shown by: test/stores/hazelcast/locked-records.spec.ts, "of one client never holds a lock in two flows"
 * Goes when: the client sends a thread id per flow, or accepts one from its caller.
 */
import type { Client as HazelcastClient } from 'hazelcast-client';
import { KeyedMutex } from '../../../core/async/keyed-mutex.js';
import { systemClock } from '../../../core/async/node-clock.js';

const mutexes = new WeakMap<HazelcastClient, KeyedMutex>();

/**
 * The mutex of all stores that lock entries with this client: a flow waits for its turn before it asks for the lock.
 */
export function mutexOf(client: HazelcastClient): KeyedMutex {
  const mutex = mutexes.get(client) ?? new KeyedMutex(systemClock);
  mutexes.set(client, mutex);
  return mutex;
}
