import type { ServerResponse } from 'node:http';
import { type RecordChange, type Driver, remote } from 'nestjs-gatekeeper';
import { closing } from '../../contract/closing.js';
import { eventually } from '../../contract/eventually.js';
import { FakeServer, HEALTH, sendJson } from './fake-server.js';

/** ms between two words of a watch that has nothing to tell. */
const BEAT = 5000;
const tell = (response: ServerResponse, type: string, health: object) =>
  response.write(`event: ${type}\ndata: ${JSON.stringify({ health })}\n\n`);

describe('a watch whose other side falls silent', () => {
  let store: Driver | undefined;
  afterEach(async () => {
    jest.useRealTimers();
    await store?.close();
  });

  it('is opened again after three beats that did not come: then anything may have changed', async () => {
    const streams: ServerResponse[] = [];
    await using server = await FakeServer.start((request, response) => {
      if (request.method !== 'GET') return sendJson(response, 200, { protocol: 1, health: HEALTH });
      streams.push(response.writeHead(200, { 'content-type': 'text/event-stream' }));
      tell(response, 'open', HEALTH);
    });
    const opened = (store = remote({ url: server.url, token: 'a-secret-token-0123456789' }).open());
    await eventually('it is connected', () => opened.health().connected);
    // Before the watch sets one; only those that it sets by itself: no promise and no socket waits for them.
    jest.useFakeTimers({ doNotFake: ['nextTick', 'performance', 'queueMicrotask', 'setImmediate', 'Date'] });
    const changes: RecordChange[] = [];
    await opened.watch('', (change) => changes.push(change));

    jest.advanceTimersByTime(3 * BEAT - 1);
    tell(streams[0]!, 'beat', { ...HEALTH, members: 2 });
    await eventually('the beat came', () => opened.health().members === 2);
    jest.advanceTimersByTime(3 * BEAT - 1);
    expect([streams.length, changes]).toEqual([1, []]);

    jest.advanceTimersByTime(1);
    await eventually('word that anything may have changed', () => {
      // The pause before the next attempt is a timer of its own, too.
      jest.advanceTimersByTime(10);
      return changes.length > 0;
    });
    expect([streams.length, changes]).toEqual([2, [{}]]);
  });
});

describe('a watch whose stream opens late', () => {
  it('then says that anything may have changed, because its caller went on before', async () => {
    let open: (() => void) | undefined;
    await using server = await FakeServer.start((request, response) => {
      if (request.method !== 'GET') return sendJson(response, 200, { protocol: 1, health: HEALTH });
      open = () => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        tell(response, 'open', HEALTH);
      };
    });
    await using store = closing(remote({ url: server.url, token: 'a-secret-token-0123456789' }).open());
    const changes: RecordChange[] = [];
    await store.watch('', (change) => changes.push(change));
    await eventually('the stream is asked for', () => open !== undefined);
    open!();
    await eventually('word that anything may have changed', () => changes.length > 0);
    expect(changes).toEqual([{}]);
  });

  it('says nothing when it was open before its caller went on', async () => {
    await using server = await FakeServer.start((request, response) => {
      if (request.method !== 'GET') return sendJson(response, 200, { protocol: 1, health: HEALTH });
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      tell(response, 'open', HEALTH);
      response.write(`event: change\ndata: ${JSON.stringify({ key: 'key' })}\n\n`);
    });
    await using store = closing(remote({ url: server.url, token: 'a-secret-token-0123456789' }).open());
    await eventually('it is connected', () => store.health().connected);
    const changes: RecordChange[] = [];
    await store.watch('', (change) => changes.push(change));
    await eventually('the change', () => changes.length > 0);
    expect(changes).toEqual([{ key: 'key' }]);
  });
});
