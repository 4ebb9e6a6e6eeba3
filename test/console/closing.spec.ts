import { once } from 'node:events';
import { type ServerResponse, createServer } from 'node:http';
import { type AddressInfo, type Socket, connect } from 'node:net';
import { AnswersUnderWay } from '../../lib/console/http/answers-under-way.js';
import type { ConsoleRequest, ConsoleResponse } from '../../lib/console/http/console-request.js';
import { gate } from '../examples/permits.js';
import { until } from '../support/apps.js';
import { PLATFORMS, SETTINGS, TOKENS, useConsoles } from './consoles.js';

describe.each(PLATFORMS)('an application on %s that closes', (platform) => {
  const start = useConsoles();

  it('does not wait for a page that asks again and again over its connection', async () => {
    const { app, url } = await start({ platform });
    const { port, pathname } = new URL(`${url}/api/semaphores`);
    const socket = connect(Number(port), '127.0.0.1');
    const ask = `GET ${pathname} HTTP/1.1\r\nHost: here\r\nAuthorization: Bearer ${TOKENS.view}\r\n`;
    // One that is under way: a connection without any is closed at once.
    socket.write(ask);
    await once(socket, 'connect');
    await until(async () => (await open(app.getHttpServer())) > 0);
    const closing = app.close();
    await until(() => isRefused(Number(port)));
    socket.write('\r\n');
    expect(await allOf(socket)).toMatch(/^connection: close\r?$/im);
    await closing;
  });

  it('ends a connection together with the answer that it waits for', async () => {
    const { reached, pass, open: answer } = gate();
    const guard = { canActivate: () => pass().then(() => true) };
    const { app, url } = await start({ platform, console: { ...SETTINGS, guards: [guard] } });
    const { port, pathname } = new URL(`${url}/api/semaphores`);
    const socket = connect(Number(port), '127.0.0.1');
    socket.write(`GET ${pathname} HTTP/1.1\r\nHost: here\r\nAuthorization: Bearer ${TOKENS.view}\r\n\r\n`);
    await reached;
    const closing = app.close();
    await until(() => isRefused(Number(port)));
    answer();
    expect(await allOf(socket)).toMatch(/^connection: close\r?$/im);
    await closing;
  });
});

describe('answers under way', () => {
  it('whose headers were sent before the server closes leave no connection open', async () => {
    const answers = new AnswersUnderWay();
    const server = createServer({ keepAliveTimeout: 72_000 }, (request, response) => {
      void answers.turn(request as unknown as ConsoleRequest, response as unknown as ConsoleResponse);
      response.write('half ');
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    socket.write('GET / HTTP/1.1\r\nHost: here\r\n\r\n');
    const [, response] = (await once(server, 'request')) as [unknown, ServerResponse];
    answers.sendAway();
    const closed = once(server.close(), 'close');
    response.end('whole');
    expect(await allOf(socket)).toMatch(/half [^]*whole/);
    await closed;
  });
});

function open(server: { getConnections(tell: (error: unknown, count: number) => void): void }): Promise<number> {
  return new Promise((resolve) => server.getConnections((_, count) => resolve(count)));
}

function isRefused(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const attempt = connect(port, '127.0.0.1', () => resolve(false));
    attempt.once('error', () => resolve(true)).once('connect', () => attempt.destroy());
  });
}

/** Until the other end closes it. */
async function allOf(socket: Socket): Promise<string> {
  let text = '';
  for await (const chunk of socket) text += String(chunk);
  return text;
}
