import { signal } from '@preact/signals';
import { call } from '../api/call.js';
import { ApiError } from '../api/api-error.js';
import type { StreamedEvent } from '../api/event-stream.js';
import { connection, isUnreachable, subscribe } from './connection.js';
import { setClusterTime } from './cluster-time.js';

/** ms between two askings while changes arrive by themselves: other nodes' grants and refreshes leave no hint. */
const WHILE_LIVE = 10_000;
/** ms between two askings while the stream is cut. */
const WHILE_CUT = 5000;
/** A burst of changes is answered by one asking, and the asking takes at most a fifth of the time. */
const SHORTEST_PAUSE = 400;
const PAUSE_FACTOR = 4;

/** An answer of the API that is asked for again whenever it may have changed. */
export class LiveQuery<T> {
  readonly data = signal<T | undefined>(undefined);
  readonly error = signal<Error | undefined>(undefined);
  #timer?: ReturnType<typeof setTimeout>;
  #dueAt = Infinity;
  #notBefore = 0;
  #isLoading = false;
  #isStale = false;
  readonly #stop = new AbortController();

  constructor(
    readonly path: string,
    private readonly concerns: (event: StreamedEvent) => boolean,
  ) {}

  /** @returns what ends it */
  start(): () => void {
    const unsubscribe = subscribe((event) => {
      if (event.event === 'reconnected' || this.concerns(event)) this.soon();
    });
    const onVisible = () => !document.hidden && this.soon();
    document.addEventListener('visibilitychange', onVisible);
    void this.load();
    return () => {
      unsubscribe();
      document.removeEventListener('visibilitychange', onVisible);
      clearTimeout(this.#timer);
      this.#stop.abort();
    };
  }

  /** Asks again in a moment. */
  soon(): void {
    if (this.#isLoading) this.#isStale = true;
    else this.#plan(Math.max(SHORTEST_PAUSE, this.#notBefore - performance.now()));
  }

  /** Asks now, and resolves when it is answered. */
  async load(): Promise<void> {
    if (this.#stop.signal.aborted) return;
    this.#isLoading = true;
    this.#isStale = false;
    const begun = performance.now();
    await this.#ask();
    this.#isLoading = false;
    const took = performance.now() - begun;
    this.#notBefore = performance.now() + PAUSE_FACTOR * took;
    this.#dueAt = Infinity;
    if (this.#isStale) this.soon();
    else this.#plan(connection.value === 'live' ? WHILE_LIVE : WHILE_CUT);
  }

  async #ask(): Promise<void> {
    const { signal } = this.#stop;
    try {
      const answer = await call<T>(this.path, { signal });
      if (signal.aborted) return;
      const { now } = answer as { now?: unknown };
      if (typeof now === 'number') setClusterTime(now);
      this.data.value = answer;
      this.error.value = undefined;
      isUnreachable.value = false;
    } catch (error) {
      if (signal.aborted) return;
      this.error.value = error as Error;
      isUnreachable.value = error instanceof ApiError && error.isOutage;
    }
  }

  /** What is due earlier stays so. */
  #plan(delay: number): void {
    const dueAt = performance.now() + delay;
    if (this.#stop.signal.aborted || dueAt >= this.#dueAt) return;
    clearTimeout(this.#timer);
    this.#dueAt = dueAt;
    this.#timer = setTimeout(() => this.#due(), delay);
  }

  #due(): void {
    this.#dueAt = Infinity;
    // Nobody looks: asked when somebody does.
    if (!document.hidden) void this.load();
  }
}
