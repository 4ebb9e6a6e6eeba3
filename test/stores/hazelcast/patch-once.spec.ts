import { EventEmitter } from 'node:events';
import type { Client as HazelcastClient } from 'hazelcast-client';
import { closeAfterFailedWrites } from '../../../lib/stores/hazelcast/client-patches/failed-writes.js';
import { failUnsentCalls } from '../../../lib/stores/hazelcast/client-patches/unsent-calls.js';
import { forgetLostConnections } from '../../../lib/stores/hazelcast/client-patches/lost-connections.js';

const ADDED = 'connectionAdded';
const REMOVED = 'connectionRemoved';

function clientWith(connections: EventEmitter): HazelcastClient {
  const inside = {
    getConnectionManager: () => connections,
    getInvocationService: () => ({ invocationsWithEventHandlers: new Map() }),
  };
  return inside as unknown as HazelcastClient;
}

describe('a client that many stores share', () => {
  it.each([
    [ADDED, failUnsentCalls],
    [ADDED, closeAfterFailedWrites],
    [REMOVED, forgetLostConnections],
  ] as const)('has one listener of %s, until the last store lets go of it', (event, patch) => {
    const connections = new EventEmitter();
    const client = clientWith(connections);

    const ends = Array.from({ length: 12 }, () => patch(client));
    expect(connections.listenerCount(event)).toBe(1);

    const last = ends.pop()!;
    // A store that closes twice counts once.
    for (const end of [...ends, ...ends]) end();
    expect(connections.listenerCount(event)).toBe(1);
    last();
    expect(connections.listenerCount(event)).toBe(0);

    const again = patch(client);
    expect(connections.listenerCount(event)).toBe(1);
    again();
  });

  it('is one of several: each has a listener of its own', () => {
    const [one, other] = [new EventEmitter(), new EventEmitter()];
    const ends = [failUnsentCalls(clientWith(one)), failUnsentCalls(clientWith(other))];
    expect([one, other].map((each) => each.listenerCount(ADDED))).toEqual([1, 1]);
    for (const end of ends) end();
  });
});
