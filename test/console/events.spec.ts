import { once } from 'node:events';
import { type IncomingMessage, request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { StoreUnavailableError, memory } from 'nestjs-gatekeeper';
import { EventStreams } from '../../lib/console/http/event-streams.js';
import { EventsController } from '../../lib/console/routes/events.controller.js';
import { StoreHost } from '../../lib/console/store/store-host.js';
import { scripted } from '../support/scripted-store.js';
import { until } from '../support/apps.js';
import { expectProblem } from './api.contract.js';
import { type Console, PLATFORMS, SETTINGS, TOKENS, useConsoles } from './consoles.js';
import { EventReader } from './event-reader.js';

const JOB = { name: 'job', duration: '10s' };
const EVENT_STREAM = 'text/event-stream; charset=utf-8';

describe.each(PLATFORMS)('the event stream on %s', (platform) => {
  const start = useConsoles();
  const open = (console: Console) => EventReader.open(`${console.url}/api/events`);
  const countOf = (console: Console) => console.app.get(EventsController).streams.count;

  it('tells what changes on this node, and what happens', async () => {
    const console = await start({ platform });
    const reader = await open(console);
    expect(reader.response.headers['content-type']).toBe(EVENT_STREAM);
    expect(reader.response.headers['cache-control']).toBe('no-store, no-transform');
    await console.send('POST', '/api/semaphores', JOB);
    await console.send('POST', '/api/semaphores', { ...JOB, name: 'another' });
    const changed = () => new Set(reader.of('change').flatMap(({ semaphores }) => semaphores));
    const audited = () => reader.of('gatekeeper').filter(({ type }) => type === 'audited');
    await reader.until(() => changed().size === 2 && audited().length === 2);
    expect(changed()).toEqual(new Set(['job', 'another']));
    expect(audited()).toMatchObject([{ entry: { by: 'dora', action: 'define' } }, { semaphore: 'another' }]);
    reader.close();
  });

  it('tells what changes on other nodes, also of semaphores that this one never heard of', async () => {
    const store = memory();
    const [console, other] = [await start({ platform, store }), await start({ platform, store })];
    const reader = await open(console);
    await other.send('POST', '/api/semaphores', JOB);
    await reader.until(({ events }) => events.some(({ event }) => event === 'change'));
    expect(reader.of('change')[0]).toEqual({ semaphores: ['job'] });
    reader.close();
  });

  it('tells many changes together, and says what was wrong in words', async () => {
    const console = await start({ platform, gatekeeper: { definitions: [JOB] } });
    const reader = await open(console);
    for (let count = 0; count < 20; count++) await (await console.gatekeeper.tryAcquire('job'))!.release();
    await reader.until(({ events }) => events.filter(({ data }) => data.type === 'released').length === 20);
    await reader.until(({ events }) => events.some(({ event }) => event === 'change'));
    expect(reader.of('change').length).toBeLessThan(10);
    expect(reader.of('gatekeeper').some(({ type }) => type === 'refreshed')).toBe(false);
    reader.close();
  });

  it('tells that a job failed whatever it threw, also what has no text', async () => {
    const console = await start({ platform, gatekeeper: { definitions: [JOB] } });
    const reader = await open(console);
    const thrown: unknown = Object.create(null);
    await expect(console.gatekeeper.run('job', () => Promise.reject(thrown))).rejects.toBe(thrown);
    await reader.until(() => reader.of('gatekeeper').some(({ type }) => type === 'run-finished'));
    expect(reader.of('gatekeeper').find(({ type }) => type === 'run-finished')).toMatchObject({
      error: { message: expect.any(String) },
    });
    reader.close();
  });

  it('forgets a client that went away', async () => {
    const console = await start({ platform });
    const reader = await open(console);
    expect(countOf(console)).toBe(1);
    reader.close();
    await until(() => countOf(console) === 0);
    expect(console.gatekeeper.changes$).toMatchObject({ source: { observers: [] } });
  });

  it('ends when the application is closed, which does not wait for its readers', async () => {
    const console = await start({ platform });
    const readers = await Promise.all([open(console), open(console)]);
    await console.app.close();
    await Promise.all(readers.map((reader) => reader.until(({ isOver }) => isOver)));
    expect(countOf(console)).toBe(0);
  });

  it('refuses more readers than it can serve', async () => {
    const console = await start({ platform });
    const as = { authorization: `Bearer ${TOKENS.operate}` };
    const half = await Promise.all(Array.from({ length: 50 }, () => open(console)));
    expectProblem(await console.get('/api/events', { token: TOKENS.view }), 503, 'too-many-streams');
    const rest = Array.from({ length: 50 }, () => EventReader.open(`${console.url}/api/events`, as));
    const readers = [...half, ...(await Promise.all(rest))];
    expectProblem(await console.get('/api/events'), 503, 'too-many-streams');
    for (const reader of readers) reader.close();
    await until(() => countOf(console) === 0);
    const again = await open(console);
    expect(again.response.statusCode).toBe(200);
    again.close();
  });

  it('cuts off a reader that does not read', async () => {
    const console = await start({ platform, gatekeeper: { definitions: [JOB] } });
    const { hostname, port, pathname } = new URL(`${console.url}/api/events`);
    const socket = connect(Number(port), hostname).pause();
    socket.on('error', () => undefined);
    socket.write(`GET ${pathname} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${TOKENS.view}\r\n\r\n`);
    await until(() => countOf(console) === 1);
    const holder = 'x'.repeat(200);
    await until(async () => {
      for (let count = 0; count < 200; count++)
        await (await console.gatekeeper.tryAcquire('job', { holder }))!.release();
      return countOf(console) === 0;
    });
    socket.destroy();
  });
});

describe.each(PLATFORMS)('both event streams, to the console and to other stores, on %s', (platform) => {
  const start = useConsoles();
  const STREAMS = ['/api/events', '/api/store/watch?prefix=a'];
  const authorization = `Bearer ${TOKENS.node}`;

  it.each(STREAMS)(
    'may not be gathered, compressed or kept, and are open to other origins that the host allows: %s',
    async (path) => {
      const origin = 'https://ops.example';
      const console = await start({
        platform,
        console: { ...SETTINGS, allowedOrigins: [origin] },
        prepare: (app) => app.enableCors({ origin }),
      });
      const reader = await EventReader.open(console.url + path, { authorization, origin });
      expect(reader.response.headers).toMatchObject({
        'content-type': EVENT_STREAM,
        'cache-control': 'no-store, no-transform',
        'x-accel-buffering': 'no',
        'x-content-type-options': 'nosniff',
        'access-control-allow-origin': origin,
      });
      reader.close();
    },
  );

  it.each(STREAMS)('answer HEAD at once, and keep no place for it: %s', async (path) => {
    const console = await start({ platform });
    const request = httpRequest(console.url + path, { method: 'HEAD', headers: { authorization } }).end();
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    expect(response.statusCode).toBe(200);
    expect(response.headers['content-type']).toBe(EVENT_STREAM);
    await once(response.resume(), 'end');
    expect(console.app.get(EventsController).streams.count).toBe(0);
    expect(console.app.get(StoreHost).streams.count).toBe(0);
  });

  it('that is refused by the store is answered as any other call', async () => {
    const { store, definition } = scripted(memory());
    const console = await start({ platform, store: definition });
    store.watch = () => Promise.reject(new StoreUnavailableError('away'));
    const answer = await console.get('/api/store/watch', { token: TOKENS.node });
    expectProblem(answer, 503, 'unavailable');
    await until(() => console.app.get(StoreHost).streams.count === 0);
  });
});

describe('the heartbeat of event streams', () => {
  it('sends heartbeats while there is a reader, and none afterwards', () => {
    jest.useFakeTimers();
    try {
      const written: string[] = [];
      const listeners: Record<string, () => void> = {};
      const response = {
        writeHead: () => undefined,
        flushHeaders: () => undefined,
        on: (event: string, listener: () => void) => void (listeners[event] = listener),
        once: (event: string, listener: () => void) => void (listeners[event] = listener),
        write: (text: string) => written.push(text),
        writableLength: 0,
      };
      const streams = new EventStreams({ most: 1, heartbeat: 15_000 });
      const stream = streams.open(response as never);
      jest.advanceTimersByTime(16_000);
      expect(written).toEqual([]);
      stream.begin();
      jest.advanceTimersByTime(31_000);
      expect(written).toEqual([': still here\n\n', ': still here\n\n']);
      listeners['close']!();
      expect(jest.getTimerCount()).toBe(0);
    } finally {
      jest.useRealTimers();
    }
  });
});
