import { ROOT_KEY, type ShardRoot, decodeShardRoot } from '../decision/index.js';
import type { Context } from '../context/context.js';
import { isUnreadable } from './known-record.js';

/** The root of the shards in the store. */
export interface FoundRoot {
  /** Absent if there is no root. */
  readonly text?: string;
  /** Absent if there is no root, or it can't be read. */
  readonly root?: ShardRoot;
}

interface UnreadableRoot {
  readonly text: string;
  readonly error: Error;
  /** The node's monotonic ms. */
  readonly since: number;
}

/**
 * Reads the root of the shards. An unreadable root is never overwritten, because another version may have written it.
 */
export class ShardRootReader {
  #unreadable?: UnreadableRoot | undefined;
  #answeredSince?: number | undefined;

  constructor(private readonly context: Context) {}

  /** Monotonic ms since which the store has answered every look. Undefined if it did not answer the last one. */
  get answeredSince(): number | undefined {
    return this.#answeredSince;
  }

  /** Why the root was unreadable at the last look; undefined if it was readable. */
  get unreadable(): Omit<UnreadableRoot, 'text'> | undefined {
    return this.#unreadable;
  }

  /** Reads the root. Reports an unreadable text once, not at each look. @throws if the store can't be asked */
  async read(): Promise<FoundRoot> {
    const text = await this.#text();
    if (text === undefined) this.#unreadable = undefined;
    if (text === undefined || text === this.#unreadable?.text) return { ...(text !== undefined && { text }) };
    try {
      const root = decodeShardRoot(text);
      this.#unreadable = undefined;
      return { text, root };
    } catch (error) {
      if (!isUnreadable(error)) throw error;
      this.#note(text, error);
      return { text };
    }
  }

  async #text(): Promise<string | undefined> {
    const { store, nodeClock } = this.context;
    const since = this.#answeredSince;
    this.#answeredSince = undefined;
    const text = await store.records.read(ROOT_KEY);
    this.#answeredSince = since ?? nodeClock.monotonic();
    return text;
  }

  #note(text: string, error: Error): void {
    const { events, nodeClock } = this.context;
    this.#unreadable = { text, error, since: this.#unreadable?.since ?? nodeClock.monotonic() };
    events.next({ type: 'problem', action: 'read the root of the names on demand', error });
  }
}
