import type { RecordChange, RecordStore } from '../../stores/index.js';
import { BEAT } from '../../stores/remote/protocol.js';

/** Where events are written to. */
export interface Sink {
  /** @returns false when the other side does not keep up: nothing more before {@link onDrained} */
  write(type: string, data: unknown): boolean;
  onDrained(ready: () => void): void;
  /** Called once, whoever closed it. */
  onClosed(closed: () => void): void;
  end(): void;
}

/** Beyond so many changes that wait, word that anything may have changed says it shorter. */
const MOST_WAITING = 1000;

/**
 * The changes below a prefix, told to one listener. Whoever does not keep up gets of each key the last text only: what
 * waits is bounded.
 */
export class ChangeStream {
  readonly #waiting = new Map<string | undefined, RecordChange>();
  #isBlocked = false;
  #isOver = false;
  #endWatch?: () => Promise<void>;
  #beat?: NodeJS.Timeout;

  constructor(
    private readonly store: RecordStore,
    private readonly sink: Sink,
  ) {
    sink.onDrained(() => {
      this.#isBlocked = false;
      this.#flush();
    });
  }

  async begin(prefix: string): Promise<void> {
    const endWatch = await this.store.watch(prefix, (change) => this.#note(change));
    if (this.#isOver) return endWatch();
    this.#endWatch = endWatch;
    this.#write('open', { health: this.store.health() });
    this.#beat = setInterval(() => this.#write('beat', { health: this.store.health() }), BEAT);
    this.#beat.unref();
    this.#flush();
  }

  /** Idempotent. */
  async end(): Promise<void> {
    if (this.#isOver) return;
    this.#isOver = true;
    clearInterval(this.#beat);
    this.sink.end();
    await this.#endWatch?.();
  }

  #note(change: RecordChange): void {
    if (this.#waiting.size >= MOST_WAITING) {
      this.#waiting.clear();
      this.#waiting.set(undefined, {});
    }
    // At the end, where the last change of all stands.
    this.#waiting.delete(change.key);
    this.#waiting.set(change.key, change);
    this.#flush();
  }

  #flush(): void {
    // Not before the stream is open: what comes first tells the listener that it is.
    while (this.#endWatch && !this.#isBlocked && this.#waiting.size > 0) {
      const [[key, { text }]] = this.#waiting as unknown as [[string | undefined, RecordChange]];
      this.#waiting.delete(key);
      this.#write('change', { key, text });
    }
  }

  #write(type: string, data: unknown): void {
    if (!this.#isOver && !this.#isBlocked) this.#isBlocked = !this.sink.write(type, data);
  }
}
