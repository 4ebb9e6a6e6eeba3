import { once } from 'node:events';
import { type Server, type ServerResponse, createServer } from 'node:http';
import { type AddressInfo, type Socket, connect } from 'node:net';
import { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { UnreadAnswers } from '../../lib/console/http/unread-answers.js';

/** Bytes that the buffers of two sockets surely don't take. */
const LARGE = 64 * 1024 * 1024;
const PIECE = Buffer.alloc(64 * 1024, 'x');

function* pieces(): Generator<Buffer> {
  for (let sent = 0; sent < LARGE; sent += PIECE.length) yield PIECE;
}

describe('the reader of a large answer', () => {
  const answers: ServerResponse[] = [];
  const sockets: Socket[] = [];
  let server: Server;
  let patience: number;
  beforeEach(async () => {
    const unread = new UnreadAnswers();
    server = createServer((_, response) => {
      answers.push(response);
      unread.add('vera', response, patience);
      Readable.from(pieces(), { objectMode: false }).pipe(response);
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
  });
  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.destroy();
    answers.length = 0;
    await new Promise((closed) => server.close(closed));
  });

  async function request(): Promise<Socket> {
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    sockets.push(socket.on('error', () => {}));
    socket.write('GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
    await once(server, 'request');
    return socket;
  }

  it('is disconnected when it takes nothing', async () => {
    patience = 100;
    await request();
    await once(answers[0]!, 'close');
    expect(answers[0]!.writableFinished).toBe(false);
  });

  it('gets all of it, however slow it is, while it takes some from time to time', async () => {
    patience = 2000;
    const socket = await request();
    const began = performance.now();
    let [taken, pauseAt] = [0, 0];
    for await (const bytes of socket) {
      taken += (bytes as Buffer).length;
      if (taken < pauseAt) continue;
      pauseAt = taken + LARGE / 16;
      await pause(200);
    }
    expect(taken).toBeGreaterThan(LARGE);
    expect(performance.now() - began).toBeGreaterThan(patience);
  });
});
