import type { ConsoleResponse } from './console-request.js';
import { EventStream } from './event-stream.js';
import { show } from '../../decision/index.js';
import { ProblemError } from './problem.error.js';

interface StreamSettings {
  /** Open at once; each holds a connection and is written to at every change. */
  readonly most: number;
  /** Of one owner; as many as of all unless given. */
  readonly mostEach?: number;
  /** ms */
  readonly heartbeat: number;
}

/** Readers of one kind: bounds their number, sends their heartbeat, and ends them when it is closed. */
export class EventStreams {
  /** With the name of the owner. */
  readonly #streams = new Map<EventStream, string | undefined>();
  #heart?: NodeJS.Timeout;
  #isClosed = false;

  constructor(private readonly settings: StreamSettings) {}

  get count(): number {
    return this.#streams.size;
  }

  /** @throws ProblemError when there are too many, or this node shuts down */
  open(response: ConsoleResponse, owner?: string): EventStream {
    const { most, mostEach = most, heartbeat } = this.settings;
    if (this.#isClosed) throw new ProblemError('closing', 'connect to another node');
    if (this.#streams.size >= most) {
      throw new ProblemError('too-many-streams', `${most} are open on this node: close one, or use another node`);
    }
    if ([...this.#streams.values()].filter((other) => other === owner).length >= mostEach) {
      const detail = `${mostEach} are open on this node for ${show(owner)}: close one, or use another token or node`;
      throw new ProblemError('too-many-streams', detail);
    }
    const stream = new EventStream(response);
    this.#streams.set(stream, owner);
    this.#heart ??= setInterval(() => this.#beat(), heartbeat).unref();
    stream.onEnd(() => this.#forget(stream));
    return stream;
  }

  /** Ends all of them; no more are opened. */
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
