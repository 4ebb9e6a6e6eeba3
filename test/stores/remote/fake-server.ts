import { once } from 'node:events';
import { type IncomingMessage, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

type Answer = (request: IncomingMessage, response: ServerResponse, body: string) => void;

/** A server that answers as a test says. */
export class FakeServer implements AsyncDisposable {
  readonly bodies: string[] = [];

  private constructor(
    private readonly server: ReturnType<typeof createServer>,
    readonly url: string,
  ) {}

  static async start(answer: Answer): Promise<FakeServer> {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const fake = new FakeServer(server, `http://127.0.0.1:${(server.address() as AddressInfo).port}/gatekeeper`);
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      void text(request).then((body) => {
        fake.bodies.push(body);
        answer(request, response, body);
      });
    });
    return fake;
  }

  /** Bodies of writes that came. */
  get writes(): string[] {
    return this.bodies.filter((body) => body.includes('"next"'));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.server, 'close');
    this.server.close();
    this.server.closeAllConnections();
    await closed;
  }
}

/** An address without a listener: no system gives this port away, as it may do with one that was free a moment ago. */
export const DEAD_URL = 'http://127.0.0.1:1/gatekeeper';

export const HEALTH = { connected: true, members: 1, quorum: 0 };

export function sendJson(response: ServerResponse, status: number, body: object, type = 'application/json'): void {
  response.writeHead(status, { 'content-type': type }).end(JSON.stringify(body));
}
