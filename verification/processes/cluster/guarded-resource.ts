import { once } from 'node:events';
import { type Server, createServer } from 'node:http';
import type { AddressInfo, ListenOptions } from 'node:net';
import { Fence } from '../../../sample-app/src/archive/fence.js';
import { sharedNow } from '../../apps/say.js';

export interface Write {
  /** "semaphore/slot" */
  readonly place: string;
  readonly token: number;
  /** The writer, if the request named one. */
  readonly by?: string | undefined;
  /** ms by the shared clock. */
  readonly at: number;
  readonly isRefused: boolean;
}

/** A guarded resource in the test's own process: accepts PUT /semaphore/slot/page?token=N&by=writer unless N is stale. */
export class GuardedResource implements AsyncDisposable {
  readonly writes: Write[] = [];
  readonly #fence = new Fence();
  readonly #server: Server;

  private constructor() {
    this.#server = createServer((request, response) => {
      response.statusCode = this.#take(new URL(request.url!, 'http://resource')) ? 204 : 409;
      response.end();
    });
  }

  /** @param listen where; a free port unless given */
  static async start(listen: ListenOptions = { port: 0, host: '127.0.0.1' }): Promise<GuardedResource> {
    const resource = new GuardedResource();
    await once(resource.#server.listen(listen), 'listening');
    return resource;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #take({ pathname, searchParams }: URL): boolean {
    const place = pathname.split('/').slice(1, 3).join('/');
    const token = Number(searchParams.get('token'));
    const isRefused = !this.#fence.admits(place, token);
    this.writes.push({ place, token, by: searchParams.get('by') ?? undefined, at: sharedNow(), isRefused });
    return !isRefused;
  }
}
