import type { ConsoleResponse } from './console-request.js';
import { EventStream } from './event-stream.js';
import { show } from '../../core/decision/index.js';
import { ProblemError } from '../api/problem.error.js';

interface StreamSettings {
  /** Maximum number of open streams. Each has a connection and gets every change. */
  readonly most: number;
  /** Maximum for one owner. Default: `most`. */
  readonly mostEach?: number;
  /** Interval of the heartbeats in ms. */
  readonly heartbeat: number;
}

/** The open streams of one kind. Limits their number, sends their heartbeats, and ends them when it is closed. */
export class EventStreams {
  /** The open streams, with the name of their owner. */
  readonly #streams = new Map<EventStream, string | undefined>();
  #heart?: NodeJS.Timeout;
  #isClosed = false;

  constructor(private readonly settings: StreamSettings) {}

  get count(): number {
    return this.#streams.size;
  }

  /** Opens a stream. @throws ProblemError if there are too many, or this node shuts down */
  open(response: ConsoleResponse, owner?: string): EventStream {
    const { most, mostEach = most, heartbeat } = this.settings;
    if (this.#isClosed) throw new ProblemError('closing', 'connect to another node');
    if (this.#streams.size >= most) {
      throw new ProblemError(
        'too-many-streams',
        `${most} streams are open on this node: close one, or use another node`,
      );
    }
    if ([...this.#streams.values()].filter((other) => other === owner).length >= mostEach) {
      const detail = `${mostEach} streams are open on this node for ${show(owner)}: close one, or use another token or node`;
      throw new ProblemError('too-many-streams', detail);
    }
    const stream = new EventStream(response);
    this.#streams.set(stream, owner);
    this.#heart ??= setInterval(() => this.#beat(), heartbeat).unref();
    stream.onEnd(() => this.#forget(stream));
    return stream;
  }

  /** Ends all streams, and opens no more. */
  close(): void {
    this.#isClosed = true;
    for (const stream of this.#streams.keys()) stream.end();
  }

  #beat(): void {
    for (const stream of this.#streams.keys()) stream.beat();
  }

  #forget(stream: EventStream): void {
    this.#streams.delete(stream);
    if (this.#streams.size > 0) return;
    clearInterval(this.#heart);
    this.#heart = undefined;
  }
}
