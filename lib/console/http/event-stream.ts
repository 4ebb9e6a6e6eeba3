import type { ServerResponse } from 'node:http';

/** Bytes that a reader may be behind; then it is cut off, and may come again. */
const MOST_BEHIND = 1024 * 1024;

/** One reader of a text/event-stream. */
export class EventStream {
  #onEnd: (() => void)[] = [];
  #isOver = false;

  /** @param headers of the answer besides those of every event stream */
  constructor(
    private readonly response: ServerResponse,
    headers: Record<string, number | string | string[] | undefined> = {},
  ) {
    response.writeHead(200, {
      ...headers,
      'content-type': 'text/event-stream; charset=utf-8',
      // Proxies must neither keep it nor gather or compress it.
      'cache-control': 'no-store, no-transform',
      'x-accel-buffering': 'no',
      'x-content-type-options': 'nosniff',
    });
    response.flushHeaders();
    response.on('close', () => this.#finish());
    response.on('error', () => this.#finish());
  }

  /** Calls `action` once when it is over, for whatever reason; at once when it is over already. */
  onEnd(action: () => void): void {
    if (this.#isOver) action();
    else this.#onEnd.push(action);
  }

  send(event: string, data: unknown): void {
    this.#write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
  }

  /** Keeps proxies from taking a quiet stream for a dead one. */
  beat(): void {
    this.#write(': still here\n\n');
  }

  end(): void {
    this.#finish();
    this.response.end();
  }

  #write(text: string): void {
    if (this.#isOver) return;
    this.response.write(text);
    if (this.response.writableLength <= MOST_BEHIND) return;
    this.#finish();
    this.response.destroy();
  }

  #finish(): void {
    this.#isOver = true;
    for (const action of this.#onEnd.splice(0)) action();
  }
}
