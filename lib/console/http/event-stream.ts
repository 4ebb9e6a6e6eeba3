import { type ConsoleResponse, rawResponse } from './console-request.js';
import { onceClosed } from './once-closed.js';
import { ProblemError } from './problem.error.js';

/** Bytes that a reader may be behind. Beyond that it is disconnected, and may connect again. */
const MOST_BEHIND = 1024 * 1024;

const HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  // Proxies and the application's own middleware must not cache, buffer or compress the stream.
  'cache-control': 'no-store, no-transform',
  'x-accel-buffering': 'no',
  'x-content-type-options': 'nosniff',
};

/**
 * One reader of server-sent events, on Express and Fastify. Before the first text is sent, the call can still be refused
 * with a normal error answer.
 *
 * @see https://html.spec.whatwg.org/multipage/server-sent-events.html
 */
export class EventStream {
  readonly #raw;
  #onEnd: (() => void)[] = [];
  /** Keeps proxies from closing a quiet stream as dead. */
  #sayAtBeat = (): void => void this.#write(': still here\n\n');
  #hasBegun = false;
  #isOver = false;

  constructor(private readonly response: ConsoleResponse) {
    this.#raw = rawResponse(response);
    onceClosed(this.#raw, () => this.#finish());
    this.#raw.on('error', () => this.#finish());
  }

  /**
   * Sends what comes before the first event. Idempotent.
   *
   * @throws ProblemError when it was ended before it began
   */
  begin(): void {
    if (this.#hasBegun) return;
    if (this.#isOver) throw new ProblemError('closing', 'connect to another node');
    this.#hasBegun = true;
    this.#raw.writeHead(200, { ...takenOver(this.response), ...HEADERS });
    this.#raw.flushHeaders();
    // Express routes HEAD to the GET handler. The answer to HEAD has no body, so a stream would keep the connection open.
    if (this.#raw.req?.method === 'HEAD') this.end();
  }

  /** Calls `action` once when the stream is over; at once if it is over already. */
  onEnd(action: () => void): void {
    if (this.#isOver) action();
    else this.#onEnd.push(action);
  }

  /** Calls `ready` whenever a reader that was behind has caught up. */
  onDrained(ready: () => void): void {
    this.#raw.on('drain', ready);
  }

  /** @returns false when the reader does not keep up: send only urgent data until {@link onDrained} */
  send(event: string, data: unknown): boolean {
    if (!this.#isOver) this.begin();
    return this.#write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
  }

  /** Calls `action` at each heartbeat, in place of the comment that is sent otherwise. */
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
    // Counts the bytes that already wait, without this event: one event may be larger although its reader keeps up.
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

/** Takes the answer over from Fastify, with the headers that it would have sent (CORS). */
function takenOver(response: ConsoleResponse): ReturnType<FastifyReply['getHeaders']> {
  if (response.raw === undefined) return {};
  const reply = response as unknown as FastifyReply;
  reply.hijack();
  return reply.getHeaders();
}
