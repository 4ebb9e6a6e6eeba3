/**
 * Fault: a client that loses its first connection before it has the list of members shuts itself down, but the promise
 *   of newHazelcastClient stays pending for two more minutes.
 * Upstream: not reported
 * Versions: 5.6; the same in 5.7.0
 * Shown by: test/stores/hazelcast/own-client.spec.ts, "fails at once when its client shuts itself down"
 * Goes when: a start rejects as soon as the client is shut down.
 */
import type { ClientConfig, Client as HazelcastClient } from 'hazelcast-client';
import loadHazelcastClient from '../../../../load-hazelcast-client.cjs';
import { unlessAborted } from '../../../core/async/aborted.js';

/**
 * @param lost aborts when the client shuts down
 * @throws the client's error, or an Error if the client shut itself down
 */
export async function startClient(config: ClientConfig, lost: AbortSignal): Promise<HazelcastClient> {
  const starting = loadHazelcastClient().Client.newHazelcastClient(config);
  try {
    return await unlessAborted(starting, lost, 'the client shut itself down');
  } catch (error) {
    // Either the start failed with this error, or the client starts later and nothing uses it.
    starting.then((late) => late.shutdown()).catch(() => undefined);
    throw error;
  }
}
