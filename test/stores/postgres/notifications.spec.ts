import { EventEmitter, getEventListeners } from 'node:events';
import { Deadline } from '../../../lib/core/async/deadline.js';
import { systemClock } from '../../../lib/core/async/node-clock.js';
import { Timers } from '../../../lib/core/async/timers.js';
import { Listener } from '../../../lib/stores/postgres/hints/notifications.js';
import type { PgConnection } from '../../../lib/stores/postgres/pg.js';
import { eventually } from '../../contract/eventually.js';

/** A connection as a transaction pooler gives it: it takes LISTEN, and delivers nothing. */
class Mute extends EventEmitter {
  query = async () => ({ rows: [] });
  release = () => undefined;
}

it('a listener that never hears itself leaves nothing on the signals of its attempts', async () => {
  const any = jest.spyOn(AbortSignal, 'any');
  const closing = new AbortController();
  const connect = async () => new Mute() as unknown as PgConnection;
  const timers = new Timers(systemClock);
  const deadline = () => new Deadline(timers, 1);
  const needs = { channels: ['one'], connect, ping: () => undefined, deadline, closing: closing.signal };
  const listener = new Listener(needs, { message: () => undefined, connected: () => undefined });
  const made = () => any.mock.results.map(({ value }) => value as AbortSignal);
  await eventually('three attempts', () => {
    listener.hurry();
    return made().length >= 4;
  });
  expect(
    made()
      .slice(0, 3)
      .map((signal) => getEventListeners(signal, 'abort').length),
  ).toEqual([0, 0, 0]);
  closing.abort();
  await listener.ended;
  any.mockRestore();
});
