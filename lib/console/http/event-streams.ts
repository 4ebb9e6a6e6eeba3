import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { ProblemError } from './problem.error.js';
import { type ConsoleResponse, rawResponse } from './console-request.js';
import { EventStream } from './event-stream.js';

/** Open at once; each holds a connection and is written to at every change. */
export const MOST_STREAMS = 100;
/** ms */
const HEARTBEAT = 15_000;

/** All readers of this node's event streams: how many there may be, their heartbeat, and their end with the application. */
@Injectable()
export class EventStreams implements OnModuleDestroy {
  readonly #streams = new Set<EventStream>();
  #heart?: NodeJS.Timeout;
  #isClosed = false;

  get count(): number {
    return this.#streams.size;
  }

  /** @throws ProblemError when there are too many, or this node shuts down */
  open(response: ConsoleResponse): EventStream {
    if (this.#isClosed) throw new ProblemError('closing', 'connect to another node');
    if (this.#streams.size >= MOST_STREAMS) {
      throw new ProblemError(
        'too-many-streams',
        `${MOST_STREAMS} are open on this node: close one, or use another node`,
      );
    }
    const stream = new EventStream(rawResponse(response), takenOver(response));
    this.#streams.add(stream);
    stream.onEnd(() => this.#forget(stream));
    this.#heart ??= setInterval(() => this.#beat(), HEARTBEAT).unref();
    return stream;
  }

  onModuleDestroy(): void {
    this.#isClosed = true;
    for (const stream of this.#streams) stream.end();
  }

  #beat(): void {
    for (const stream of this.#streams) stream.beat();
  }

  #forget(stream: EventStream): void {
    this.#streams.delete(stream);
    if (this.#streams.size > 0) return;
    clearInterval(this.#heart);
    this.#heart = undefined;
  }
}

interface FastifyReply {
  hijack(): void;
  getHeaders(): Record<string, number | string | string[] | undefined>;
}

/** Fastify has to be told that somebody else answers, and what it would have sent with it (CORS) comes along. */
function takenOver(response: ConsoleResponse): ReturnType<FastifyReply['getHeaders']> {
  if (response.raw === undefined) return {};
  const reply = response as unknown as FastifyReply;
  reply.hijack();
  return reply.getHeaders();
}
