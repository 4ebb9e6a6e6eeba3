import type { Client } from 'hazelcast-client';
import { RECONNECT, pauseAfter } from '../../../lib/core/async/backoff.js';
import type { ClientSource } from '../../../lib/stores/hazelcast/client-source.js';
import { Connection } from '../../../lib/stores/hazelcast/connection.js';
import { eventually } from '../../contract/eventually.js';

/** Gives one client after another, each of which the test may lose. */
class Clients implements ClientSource {
  readonly given: { lose: () => void; released: boolean }[] = [];
  async connect() {
    const lost = new AbortController();
    const one = { lose: () => lost.abort(), released: false };
    this.given.push(one);
    return { client: {} as Client, lost: lost.signal, release: async () => void (one.released = true) };
  }
}

describe('A connection', () => {
  it('has no session from the instant on in which its client is lost, gives that back and takes another', async () => {
    const clients = new Clients();
    let opened = 0;
    const connection = new Connection(
      clients,
      async () => clients.given.length,
      () => (opened += 1),
    );
    await eventually('a session', () => connection.session === 1);
    clients.given[0]!.lose();
    expect(connection.session).toBeUndefined();
    await eventually('another session', () => connection.session === 2);
    expect(clients.given.map(({ released }) => released)).toEqual([true, false]);
    expect(opened).toBe(2);
    await connection.close();
    expect(connection.session).toBeUndefined();
    expect(clients.given.map(({ released }) => released)).toEqual([true, true]);
  });

  it('gives a client back that was lost while its session was opened', async () => {
    const clients = new Clients();
    const connection = new Connection(
      clients,
      () => new Promise(() => undefined),
      () => undefined,
    );
    await eventually('a client', () => clients.given.length === 1);
    clients.given[0]!.lose();
    await eventually('another client', () => clients.given.length === 2);
    expect(clients.given[0]!.released).toBe(true);
    await connection.close();
    expect(clients.given[1]!.released).toBe(true);
  });

  it('tries again when a session can not be opened, and says why meanwhile', async () => {
    const clients = new Clients();
    const open = async () => {
      if (clients.given.length < 3) throw new Error('not yet');
      return 'session';
    };
    const connection = new Connection(clients, open, () => undefined);
    await eventually('the reason', () => connection.problem === 'not yet');
    await eventually('a session', () => connection.session === 'session');
    expect(connection.problem).toBeUndefined();
    await connection.close();
  });
});

describe('The pause before the next attempt', () => {
  it.each([
    [0, 50, 100],
    [1, 100, 200],
    [5, 1600, 3200],
    [6, 2500, 5000],
    [1_000_000, 2500, 5000],
  ])('after %i failures lies from %i to %i ms', (failures, shortest, longest) => {
    expect(pauseAfter(failures, 0, RECONNECT)).toBe(shortest);
    expect(pauseAfter(failures, 1, RECONNECT)).toBe(longest);
  });
});
