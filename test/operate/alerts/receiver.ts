import { once } from 'node:events';
import { type IncomingHttpHeaders, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { Alert, AlertsMessage } from 'nestjs-gatekeeper';

export const SECRET = `whsec_${Buffer.alloc(32, 'k').toString('base64')}`;

interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A receiver of alerts on loopback. */
export class Receiver implements AsyncDisposable {
  readonly requests: Received[] = [];
  /** Answers a request; default: 204. */
  answer: (response: ServerResponse, count: number) => void = (response) => response.writeHead(204).end();
  readonly #server = createServer(async (request, response) => {
    this.requests.push({ headers: request.headers, body: await text(request) });
    this.answer(response, this.requests.length);
  });

  static async start(): Promise<Receiver> {
    const receiver = new Receiver();
    receiver.#server.listen(0, '127.0.0.1');
    await once(receiver.#server, 'listening');
    return receiver;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/hidden-path`;
  }

  get webhook() {
    return { url: this.url, secret: SECRET, allowHttp: true, name: 'duty' };
  }

  get messages(): AlertsMessage[] {
    return this.requests.map(({ body }) => JSON.parse(body));
  }

  /** All alerts of all messages, in order. */
  get alerts(): Alert[] {
    return this.messages.flatMap(({ data }) => data.alerts);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }
}
