import { type Socket, connect } from 'node:net';
import { once } from 'node:events';
import { describe, expect, it } from '@jest/globals';
import { until } from '../support/apps.js';
import { PLATFORMS, TOKENS, useConsoles } from './consoles.js';

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
