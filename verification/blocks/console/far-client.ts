import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

/** Sends requests and drops their answers: to read megabytes takes a thread as long as it takes to make them. */
const CLIENT = `
  const { request } = require('node:http');
  const { parentPort } = require('node:worker_threads');
  const send = ({ url, method, headers, body }) =>
    new Promise((resolve, reject) => {
      const sent = request(url, { method, headers }, (response) => {
        let length = 0;
        response.on('data', (chunk) => (length += chunk.length));
        response.on('end', () => resolve({ status: response.statusCode, length }));
        response.on('error', reject);
      });
      sent.on('error', reject);
      sent.end(body);
    });
  parentPort.on('message', async (requests) => parentPort.postMessage(await Promise.all(requests.map(send))));
`;

export interface FarRequest {
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface FarAnswer {
  readonly status: number;
  /** Bytes of the body. */
  readonly length: number;
}

/** A client in a thread of its own: what it does blocks no event loop but its own. */
export class FarClient {
  readonly #worker = new Worker(CLIENT, { eval: true });

  /** Sends all of them at once. */
  async send(requests: readonly FarRequest[]): Promise<FarAnswer[]> {
    const answered = once(this.#worker, 'message');
    this.#worker.postMessage(requests);
    const [answers] = await answered;
    return answers;
  }

  async close(): Promise<void> {
    await this.#worker.terminate();
  }
}
