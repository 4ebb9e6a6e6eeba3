import { once } from 'node:events';
import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

const TOKEN = 'x-amz-meta-fence';

interface StoredObject {
  readonly body: string;
  readonly etag: string;
  readonly token: string;
}

/** As much of S3 as conditional writes need: an ETag for each version, If-Match and If-None-Match, 412. */
export class ObjectStore implements AsyncDisposable {
  /** Every write that was applied, in order. */
  readonly writes: { readonly path: string; readonly body: string; readonly token: number }[] = [];
  /** How often a condition did not hold. */
  conflicts = 0;
  /** Called before a write is looked at. */
  beforePut: (body: string) => Promise<void> = async () => {};
  readonly #objects = new Map<string, StoredObject>();
  readonly #server: Server = createServer((request, response) => void this.#answer(request, response));
  #versions = 0;

  static async start(): Promise<ObjectStore> {
    const store = new ObjectStore();
    await once(store.#server.listen(0, '127.0.0.1'), 'listening');
    return store;
  }

  url(path: string): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/${path}`;
  }

  bodyOf(path: string): string | undefined {
    return this.#objects.get(`/${path}`)?.body;
  }

  delete(path: string): void {
    this.#objects.delete(`/${path}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method === 'PUT') {
      const body = await text(request);
      await this.beforePut(body);
      response.statusCode = this.#put(request, body);
    } else {
      const found = this.#objects.get(request.url!);
      response.statusCode = found ? 200 : 404;
      if (found) response.setHeader('etag', found.etag).setHeader(TOKEN, found.token);
    }
    response.end();
  }

  /** Condition and write in one step, as the store promises it. */
  #put({ url, headers }: IncomingMessage, body: string): number {
    const path = url!;
    const found = this.#objects.get(path);
    const isMissing = headers['if-match'] !== undefined && !found;
    const isOther = headers['if-match'] !== undefined && headers['if-match'] !== found?.etag;
    const isThere = headers['if-none-match'] === '*' && found !== undefined;
    if (isMissing || isOther || isThere) {
      this.conflicts++;
      return isMissing ? 404 : 412;
    }
    const token = String(headers[TOKEN]);
    this.#objects.set(path, { body, etag: `"${++this.#versions}"`, token });
    this.writes.push({ path: path.slice(1), body, token: Number(token) });
    return 200;
  }
}
