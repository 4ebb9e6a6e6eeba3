import { show } from '../../core/decision/index.js';
import { Gate } from './gate.js';
import { ProblemError } from '../api/problem.error.js';
import type { ConsoleResponse } from './console-request.js';
import { EventStream } from './event-stream.js';

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
  readonly #streams = new Set<EventStream>();
  readonly #gate: Gate;
  #heart?: NodeJS.Timeout;
  #isClosed = false;

  constructor(private readonly settings: StreamSettings) {
    this.#gate = new Gate({ ...settings, refusal: (owner) => tooMany(settings, owner) });
  }

  get count(): number {
    return this.#streams.size;
  }

  /** Opens a stream. @throws ProblemError if there are too many, or this node shuts down */
  open(response: ConsoleResponse, owner = ''): EventStream {
    if (this.#isClosed) throw new ProblemError('closing', 'connect to another node');
    const leave = this.#gate.enter(owner);
    const stream = new EventStream(response);
    this.#streams.add(stream);
    this.#heart ??= setInterval(() => this.#beat(), this.settings.heartbeat).unref();
    stream.onEnd(() => {
      leave();
      this.#forget(stream);
    });
    return stream;
  }

  /** Ends all streams, and opens no more. */
  close(): void {
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

function tooMany({ most, mostEach }: StreamSettings, owner?: string): ProblemError {
  const detail =
    owner === undefined
      ? `${most} streams are open on this node: close one, or use another node`
      : `${mostEach} streams are open on this node for ${show(owner)}: close one, or use another token or node`;
  return new ProblemError('too-many-streams', detail);
}
