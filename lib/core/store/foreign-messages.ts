import { type CancelTimer, type NodeClock, systemClock } from '../async/node-clock.js';

/** ms in which all unproven messages together wake once. */
const PAUSE = 1000;
/** ms between two reports of the number of messages. */
const QUIET = 60_000;
/** Keys and queues that are woken at once. Of more, the rest is not woken. */
const MOST = 500;
/** Characters of a key, as other parts limit it. */
const LONGEST_KEY = 1000;

interface Reactions {
  /** Before others are woken: the sender may have a newer key. Never rejects. */
  readonly refresh: () => Promise<void>;
  /** The record under this key may have changed. */
  readonly changed: (key: string) => void;
  /** A queue may have a hint. */
  readonly offered?: (queue: string) => void;
  /** So many messages were unproven since the last call. At most one call a minute. */
  readonly counted?: ((count: number) => void) | undefined;
}

/**
 * Unproven messages, see `message-seals.ts`. The first wakes at once, those of the next second wake together at its end,
 * and what is more than {@link MOST} is only counted: so a flood costs a bounded amount of reads, memory and log lines.
 */
export class ForeignMessages {
  readonly #keys = new Set<string>();
  readonly #queues = new Set<string>();
  #count = 0;
  #reportedAt = -Infinity;
  #cancel: CancelTimer | undefined;
  #isClosed = false;

  constructor(
    private readonly on: Reactions,
    private readonly clock: Pick<NodeClock, 'monotonic' | 'schedule'> = systemClock,
  ) {}

  /** @param about what the message says that it is about, if anything */
  note(about: { readonly key?: string; readonly queue?: string } = {}): void {
    if (this.#isClosed) return;
    this.#count++;
    keep(this.#keys, about.key);
    keep(this.#queues, about.queue);
    if (this.#cancel) return;
    this.#plan();
    void this.#wake();
  }

  close(): void {
    this.#isClosed = true;
    this.#cancel?.();
  }

  #plan(): void {
    this.#cancel = this.clock.schedule(() => this.#goOn(), PAUSE);
  }

  #goOn(): void {
    this.#cancel = undefined;
    const isWoken = this.#keys.size + this.#queues.size > 0;
    if (isWoken) void this.#wake();
    this.#report();
    if (isWoken || this.#count > 0) this.#plan();
  }

  async #wake(): Promise<void> {
    const [keys, queues] = [[...this.#keys], [...this.#queues]];
    this.#keys.clear();
    this.#queues.clear();
    await this.on.refresh();
    if (this.#isClosed) return;
    for (const key of keys) this.on.changed(key);
    for (const queue of queues) this.on.offered?.(queue);
  }

  #report(): void {
    const now = this.clock.monotonic();
    if (this.#count === 0 || now - this.#reportedAt < QUIET) return;
    this.#reportedAt = now;
    this.on.counted?.(this.#count);
    this.#count = 0;
  }
}

function keep(set: Set<string>, name: string | undefined): void {
  if (name !== undefined && name.length <= LONGEST_KEY && set.size < MOST) set.add(name);
}
