import { type ConsoleResponse, rawResponse } from './console-request.js';
import { onceClosed } from './once-closed.js';
import { ProblemError } from '../api/problem.error.js';

/** Maximum number of unsent bytes. A reader that is further behind is disconnected, and may connect again. */
const MOST_BEHIND = 1024 * 1024;

const HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  // Proxies and the application's own middleware must not cache, buffer or compress the stream.
  'cache-control': 'no-store, no-transform',
  'x-accel-buffering': 'no',
  'x-content-type-options': 'nosniff',
};

/**
 * One reader of server-sent events, on Express and Fastify. Until {@link begin}, the call can still be refused with a
 * normal error answer.
 *
 * @see https://html.spec.whatwg.org/multipage/server-sent-events.html
 */
export class EventStream {
  readonly #raw;
  #onEnd: (() => void)[] = [];
  /** The action at each heartbeat. By default a comment, so that proxies do not close a quiet stream. */
  #sayAtBeat = (): void => void this.#write(': still here\n\n');
  #hasBegun = false;
  #isOver = false;

  constructor(private readonly response: ConsoleResponse) {
    this.#raw = rawResponse(response);
    onceClosed(this.#raw, () => this.#finish());
    this.#raw.on('error', () => this.#finish());
  }

  /**
   * Sends the status and the headers. Idempotent.
   *
   * @throws ProblemError if the stream ended before it began
   */
  begin(): void {
    if (this.#hasBegun) return;
    if (this.#isOver) throw new ProblemError('closing', 'connect to another node');
    this.#hasBegun = true;
    this.#raw.writeHead(200, { ...takenOver(this.response), ...HEADERS });
    this.#raw.flushHeaders();
    // Express routes HEAD to the GET handler. The answer to HEAD has no body, so a stream would keep the connection
    // open.
    if (this.#raw.req?.method === 'HEAD') this.end();
  }

  /** Calls `action` once when the stream ends; at once if it has ended already. */
  onEnd(action: () => void): void {
    if (this.#isOver) action();
    else this.#onEnd.push(action);
  }

  /** Calls `ready` each time that a slow reader has caught up. */
  onDrained(ready: () => void): void {
    this.#raw.on('drain', ready);
  }

  /**
   * Sends an event.
   *
   * @returns false if the reader is slow or gone; a sender of many events then waits for {@link onDrained}
   */
  send(event: string, data: unknown): boolean {
    if (!this.#isOver) this.begin();
    return this.#write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
  }

  /** Calls `action` at each heartbeat, instead of the default comment. */
  onBeat(action: () => void): void {
    this.#sayAtBeat = action;
  }

  beat(): void {
    if (this.#hasBegun) this.#sayAtBeat();
  }

  end(): void {
    this.#finish();
    if (this.#hasBegun) this.#raw.end();
  }

  #write(text: string): boolean {
    if (this.#isOver) return false;
    // Counts the bytes that already wait, but not this event: a single event may be larger than the limit.
    if (this.#raw.writableLength <= MOST_BEHIND) return this.#raw.write(text);
    this.#finish();
    this.#raw.destroy();
    return false;
  }

  #finish(): void {
    this.#isOver = true;
    for (const action of this.#onEnd.splice(0)) action();
  }
}

interface FastifyReply {
  hijack(): void;
  getHeaders(): Record<string, number | string | string[] | undefined>;
}

/** Takes the answer over from Fastify. @returns the headers that Fastify would have sent, such as those of CORS */
function takenOver(response: ConsoleResponse): ReturnType<FastifyReply['getHeaders']> {
  if (response.raw === undefined) return {};
  const reply = response as unknown as FastifyReply;
  reply.hijack();
  return reply.getHeaders();
}
