import { once } from 'node:events';
import { type Socket, connect } from 'node:net';
import { AccessGuard } from '../../lib/console/access/access.guard.js';
import type { EventStreams } from '../../lib/console/http/event-streams.js';
import { EventsController } from '../../lib/console/routes/events.controller.js';
import { StoreHost } from '../../lib/console/store/store-host.js';
import { until } from '../support/apps.js';
import { waitingSince } from '../support/waiting.js';
import { type Console, PLATFORMS, TOKENS, useConsoles } from './consoles.js';

interface Sent {
  readonly path: string;
  readonly token?: string | null;
  readonly body?: object;
}

const EVENTS: Sent = { path: '/api/events', token: TOKENS.view };
const HISTORY: Sent = { path: '/api/history', token: TOKENS.view };

describe.each(PLATFORMS)(
  'requests that a client sends before it has the answers to those before, on %s',
  (platform) => {
    const start = useConsoles();
    const sockets: Socket[] = [];
    afterEach(() => {
      for (const socket of sockets.splice(0)) socket.destroy();
    });
    const boot = () => start({ platform, gatekeeper: { definitions: [{ name: 'job', duration: '10s' }] } });

    /** Sends all in one piece over one connection, which it does not read. */
    async function pipeline({ url }: Console, requests: readonly Sent[]): Promise<Socket> {
      const { hostname, port, pathname } = new URL(url);
      const socket = connect(Number(port), hostname).on('error', () => {});
      sockets.push(socket);
      await once(socket, 'connect');
      socket.write(requests.map((request) => textOf(request, pathname)).join(''));
      return socket;
    }

    /** Closes a connection after all of its requests were seen, and returns after the server has heard of it. */
    async function closeLater(console: Console, socket: Socket): Promise<void> {
      await once(socket, 'readable');
      // Sent after the others, so they were begun, if they could begin.
      for (let count = 0; count < 3; count++) await console.get('/api/session', { headers: { connection: 'close' } });
      socket.destroy();
      await until(async () => (await connectionsOf(console)) === 0);
    }

    it.each([
      ['events', EVENTS, EventsController],
      ['changes of the store', { path: '/api/store/watch', token: TOKENS.node }, StoreHost],
    ])('open no stream behind another one, and leave none behind: %s', async (_, request, owner) => {
      const console = await boot();
      const { streams } = console.app.get<{ streams: EventStreams }>(owner);
      const socket = await pipeline(console, times(60, request));
      await until(() => streams.count > 0);
      await console.get('/api/session');
      expect(streams.count).toBe(1);
      await closeLater(console, socket);
      expect(streams.count).toBe(0);
    });

    it('keep no places for large answers after their connection has closed', async () => {
      const console = await boot();
      await closeLater(console, await pipeline(console, [EVENTS, ...times(40, HISTORY)]));
      await closeLater(console, await pipeline(console, times(40, HISTORY)));
      expect((await console.get('/api/history', { token: TOKENS.view })).status).toBe(200);
    });

    it('take no task and no permit for a client that is gone', async () => {
      const console = await boot();
      await console.send('POST', '/api/tasks', { id: 'mail:1' });
      const claim: Sent = { path: '/api/tasks/claim', body: { types: ['mail'], wait: 5000 } };
      const take: Sent = { path: '/api/permits', body: { semaphore: 'job', wait: 5000 } };
      await closeLater(console, await pipeline(console, [EVENTS, claim, take]));
      const { json } = await console.send('POST', '/api/tasks/claim', { types: ['mail'] });
      expect(json.tasks).toMatchObject([{ id: 'mail:1', attempt: 1 }]);
      expect((await console.gatekeeper.state()).semaphores[0]!.holders).toEqual([]);
      expect(console.log.filter((line) => /^(error|warn) /.test(line))).toEqual([]);
    });

    it('are all answered in their order, up to 100', async () => {
      const console = await boot();
      const session = (count: number): Sent => ({ path: `/api/semaphores/job-${count}`, token: TOKENS.view });
      const socket = await pipeline(console, [
        { path: '/api/openapi.json', token: null },
        { path: '/api/pause', body: { names: 'job' } },
        ...Array.from({ length: 97 }, (_, count) => session(count)),
        { path: '/api/events', token: null },
      ]);
      let text = '';
      const isWhole = () => text.match(/HTTP\/1\.1 \d/g)?.length === 100;
      for await (const chunk of socket) if ((text += String(chunk)) && isWhole()) break;
      expect([...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status)).toEqual([
        '200',
        '200',
        ...Array<string>(97).fill('404'),
        '401',
      ]);
      expect([...text.matchAll(/\\"job-(\d+)\\"/g)].map(([, count]) => Number(count))).toEqual([...Array(97).keys()]);
    });

    it.each([
      ['of event streams', EVENTS],
      ['without a token', { path: '/api/openapi.json', token: null }],
      ['for the page', { path: '/', token: null }],
    ])('close their connection if more than 100 wait: %s', async (_, request) => {
      const console = await boot();
      const socket = await pipeline(console, times(150, request));
      await untilClosed(socket);
      expect((await console.get('/api/session')).status).toBe(200);
      expect(console.log.filter((line) => /^(error|warn) /.test(line))).toEqual([]);
    });

    it.each([
      ['of event streams', EVENTS],
      ['without a token', { path: '/api/openapi.json', token: null }],
      ['for the page', { path: '/', token: null }],
    ])('cost nothing after their connection was closed: %s', async (_, request) => {
      const console = await boot();
      const asked = jest.spyOn(console.app.get(AccessGuard), 'admit');
      const socket = await pipeline(console, times(1000, request));
      await untilClosed(socket);
      await console.get('/api/session');
      expect(asked.mock.calls.length).toBeLessThan(300);
      jest.restoreAllMocks();
    });

    it('need one listener for each connection', async () => {
      const warnings: Error[] = [];
      const note = (warning: Error) => void warnings.push(warning);
      process.on('warning', note);
      const console = await boot();
      await closeLater(console, await pipeline(console, [EVENTS, ...times(98, HISTORY)]));
      process.off('warning', note);
      expect(warnings).toEqual([]);
    });

    it('keep no application from closing', async () => {
      const console = await boot();
      const socket = await pipeline(console, [EVENTS, ...times(20, HISTORY)]);
      await once(socket, 'readable');
      const waited = waitingSince();
      await console.app.close();
      expect(waited()).toBeLessThan(2000);
    });
  },
);

/** `once` would reject: a connection that is closed while its client writes ends with an error. */
async function untilClosed(socket: Socket): Promise<void> {
  socket.resume();
  await until(() => socket.closed);
}

const times = (count: number, request: Sent) => Array.from({ length: count }, () => request);

function textOf({ path, token = TOKENS.define, body }: Sent, mount: string): string {
  const content = body && JSON.stringify(body);
  return [
    `${content ? 'POST' : 'GET'} ${mount}${path} HTTP/1.1`,
    'Host: localhost',
    ...(token === null ? [] : [`Authorization: Bearer ${token}`]),
    ...(content ? ['Content-Type: application/json', `Content-Length: ${content.length}`] : []),
    '',
    content ?? '',
  ].join('\r\n');
}

function connectionsOf({ app }: Console): Promise<number> {
  return new Promise((resolve, reject) => {
    app
      .getHttpServer()
      .getConnections((error: Error | null, count: number) => (error ? reject(error) : resolve(count)));
  });
}
