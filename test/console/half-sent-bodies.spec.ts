import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import type { INestApplication } from '@nestjs/common';
import { until } from '../support/apps.js';
import { waitingSince } from '../support/waiting.js';
import { type Console, type Host, PLATFORMS, type Platform, TOKENS, useConsoles } from './consoles.js';

/** ms that a client may take for its request: long enough for all connections to be seen open. */
const LIMIT = 5000;
const COUNT = 50;

/** As docs/http-api.md says it for each platform. */
const LIMITED: Record<Platform, Host> = {
  Express: {
    prepare: (app) => void Object.assign(app.getHttpServer(), { headersTimeout: LIMIT, requestTimeout: LIMIT }),
    application: { forceCloseConnections: true },
  },
  Fastify: { fastify: { requestTimeout: LIMIT, http: { headersTimeout: LIMIT }, forceCloseConnections: true } },
};

/** Node looks for late requests every 30 s; it begins when the server listens. */
function lookOften(app: INestApplication): void {
  app.getHttpServer().connectionsCheckingInterval = 100;
}

/** Sends half a request, by turns to a call of the API and to one of the store. @returns the answer once it is closed */
function sendHalf({ url }: Console, index: number): Promise<string> {
  const { hostname, port, pathname } = new URL(url);
  const [path, type, token] =
    index % 2 === 0
      ? ['api/permits', 'application/json', TOKENS.operate]
      : ['api/store/read', 'application/vnd.gatekeeper.store+json', TOKENS.node];
  const head = [`POST ${pathname}/${path} HTTP/1.1`, 'Host: localhost', `Authorization: Bearer ${token}`];
  const socket = connect(Number(port), hostname);
  socket.write([...head, `Content-Type: ${type}`, 'Content-Length: 40', '', '{"semaphore":'].join('\r\n'));
  return text(socket).catch((error: NodeJS.ErrnoException) => error.code ?? error.message);
}

function connectionsOf({ app }: Console): Promise<number> {
  return new Promise((resolve, reject) => {
    app
      .getHttpServer()
      .getConnections((error: Error | null, count: number) => (error ? reject(error) : resolve(count)));
  });
}

describe.each(PLATFORMS)('half-sent bodies on %s', (platform) => {
  const start = useConsoles();

  it('keep no one else from being served, and end after the time that the docs say how to set', async () => {
    const { prepare, ...host } = LIMITED[platform];
    const console = await start({ platform, ...host, prepare: (app) => (prepare?.(app), lookOften(app)) });
    const began = performance.now();
    const halves = Array.from({ length: COUNT }, (_, index) => sendHalf(console, index));
    await until(async () => (await connectionsOf(console)) >= COUNT);
    expect((await console.get('/api/session', { headers: { connection: 'close' } })).status).toBe(200);
    for (const answer of await Promise.all(halves)) expect(answer).toMatch(/^HTTP\/1\.1 408 /);
    expect(performance.now() - began).toBeGreaterThanOrEqual(LIMIT);
    expect((await console.get('/api/session')).status).toBe(200);
    expect(console.log.filter((line) => line.startsWith('error'))).toEqual([]);
  });

  it('keep no application from closing that is set as the docs say', async () => {
    const console = await start({ platform, ...LIMITED[platform] });
    const half = sendHalf(console, 0);
    await until(async () => (await connectionsOf(console)) >= 1);
    const waited = waitingSince();
    await console.app.close();
    expect(waited()).toBeLessThan(2000);
    await half;
  });
});
