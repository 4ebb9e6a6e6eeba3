import { KeyedMutex } from '../../core/async/keyed-mutex.js';
import type { Context } from '../../core/context/context.js';
import type { TextEntry } from '../../core/store/index.js';
import { type WaitingPlace, fairPrefix, placeOfText, ticketOf } from '../rules/task-place.js';
import type { PacedStore } from './paced-store.js';

/** Tasks of one read. */
const ROWS = 16;
/** ms after which tasks that were read are read again: other nodes may have claimed them. */
const FRESH = 1000;
/** Tasks that this node does not try again soon. */
const REMEMBERED = 256;

/** The rotation over the keys of one type and priority. */
interface Line {
  /** Hash of the key whose turn was last. */
  key: string;
  /** One task of each of the next keys. */
  next: { readonly key: string; readonly text: string }[];
  /** Monotonic ms of the read of `next`. */
  readAt: number;
}

/**
 * The turns of the waiting tasks with fair keys. Their texts stand together by the hash of the key, so the task of
 * the next key is found by one read, whatever waits under the key before:
 *
 *     hash of the key   a1 a1 a1 … a1 | c7 | f3 f3        the turns of this node: a1, c7, f3, a1, f3, a1, …
 *
 * Each node goes round by itself, from a random place. So between two tasks of one key a node takes one of each other key.
 * A hint of a task with a fair key is a ticket: its taker may claim the task whose turn it is, not the one that offered it.
 */
export class FairRotation {
  readonly #lines = new Map<string, Line>();
  readonly #mutex: KeyedMutex;
  /** Tasks that this node has tried to claim. */
  readonly #tried = new Set<string>();

  constructor(
    private readonly storage: Pick<PacedStore, 'range'>,
    private readonly context: Pick<Context, 'nodeClock' | 'random' | 'timing'>,
  ) {
    this.#mutex = new KeyedMutex(context.nodeClock);
  }

  /**
   * The task whose turn it is on this node.
   *
   * @returns its text, or undefined if none waits
   * @throws StoreUnavailableError
   */
  async next(of: Pick<WaitingPlace, 'type' | 'priority'>): Promise<string | undefined> {
    const prefix = fairPrefix(of);
    // Two takers at once would find the same task.
    const unlock = await this.#mutex.lock(prefix, 2 * this.context.timing.callTimeout);
    try {
      const line = this.#lineOf(prefix);
      if (line.next.length === 0 || this.#now - line.readAt > FRESH) await this.#read(prefix, line);
      const turn = line.next.shift();
      if (!turn) return undefined;
      line.key = turn.key;
      this.#remember(turn.text);
      return turn.text;
    } finally {
      unlock();
    }
  }

  #lineOf(prefix: string): Line {
    const known = this.#lines.get(prefix);
    if (known) return known;
    const line = { key: this.context.random.number().toString(36).slice(2, 4), next: [], readAt: -Infinity };
    this.#lines.set(prefix, line);
    return line;
  }

  /** From behind the key whose turn was last; at the end of the line, from its begin. */
  async #read(prefix: string, line: Line): Promise<void> {
    const behind = `${prefix}${line.key}|~`;
    let rows = await this.storage.range(behind, `${prefix}~`, ROWS);
    if (rows.length === 0) rows = await this.storage.range(prefix, behind, ROWS);
    line.next = [...this.#byKey(rows)].map(([key, texts]) => ({ key, text: this.#oneOf(texts) }));
    line.readAt = this.#now;
  }

  #byKey(rows: readonly TextEntry[]): Map<string, string[]> {
    const keys = new Map<string, string[]>();
    for (const { text } of rows) {
      const key = placeOfText(text)?.key;
      if (key !== undefined) keys.set(key, [...(keys.get(key) ?? []), text]);
    }
    return keys;
  }

  /** Not always the oldest one: all nodes would try to claim the same. */
  #oneOf(texts: readonly string[]): string {
    const untried = texts.filter((text) => !this.#tried.has(ticketOf(text)));
    const choice = untried.length > 0 ? untried : texts;
    return choice[Math.floor(this.context.random.number() * choice.length)]!;
  }

  #remember(text: string): void {
    this.#tried.add(ticketOf(text));
    if (this.#tried.size > REMEMBERED) this.#tried.delete(this.#tried.values().next().value!);
  }

  get #now(): number {
    return this.context.nodeClock.monotonic();
  }
}
