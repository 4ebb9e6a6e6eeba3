import type { RecordChange, Driver } from '../../core/store/index.js';

/** The receiver of a stream of changes. */
export interface Reader {
  /** @returns false if the reader is slow; then it wants nothing more before {@link onDrained} */
  send(type: string, data: unknown): boolean;
  onDrained(ready: () => void): void;
}

/** Maximum number of waiting changes. Above it, one event says that any key may have changed. */
const MOST_WAITING = 1000;

/**
 * Sends the changes below a prefix to one reader. A slow reader gets only the last text of each key, so the backlog is
 * limited.
 */
export class ChangeStream {
  readonly #waiting = new Map<string | undefined, RecordChange>();
  #isBlocked = false;
  #isOver = false;
  #endWatch?: () => Promise<void>;
  /** Ends the wait for all changes. All, because this process does not know for which keys the reader's nodes wait. */
  #endWait?: (() => void) | undefined;

  constructor(
    private readonly driver: Pick<Driver, 'watch' | 'awaitChanges' | 'health'>,
    private readonly reader: Reader,
  ) {
    reader.onDrained(() => {
      this.#isBlocked = false;
      this.#flush();
    });
  }

  async begin(prefix: string): Promise<void> {
    const endWatch = await this.driver.watch(prefix, (change) => this.#note(change));
    if (this.#isOver) return endWatch();
    this.#endWatch = endWatch;
    this.#endWait = this.driver.awaitChanges?.();
    this.#tell('open', { health: this.driver.health() });
    this.#flush();
  }

  /** Sends the health of the store, unless the reader is behind. */
  beat(): void {
    if (this.#endWatch) this.#tell('beat', { health: this.driver.health() });
  }

  /** Idempotent. */
  async end(): Promise<void> {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#endWait?.();
    await this.#endWatch?.();
  }

  #note(change: RecordChange): void {
    // A text that waits is worth more: it came from a node of the cluster.
    if (change.isUnproven && this.#waiting.has(change.key)) return;
    if (this.#waiting.size >= MOST_WAITING) {
      this.#waiting.clear();
      this.#waiting.set(undefined, {});
    }
    // A key moves to the end, because changes are sent in the order of the last change of each key.
    this.#waiting.delete(change.key);
    this.#waiting.set(change.key, change);
    this.#flush();
  }

  #flush(): void {
    // Nothing is sent before the event `open`, which must be the first one.
    while (this.#endWatch && !this.#isOver && !this.#isBlocked && this.#waiting.size > 0) {
      const [[key, change]] = this.#waiting as unknown as [[string | undefined, RecordChange]];
      this.#waiting.delete(key);
      this.#tell('change', change);
    }
  }

  #tell(type: string, data: unknown): void {
    if (!this.#isOver && !this.#isBlocked) this.#isBlocked = !this.reader.send(type, data);
  }
}
