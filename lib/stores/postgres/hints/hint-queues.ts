import { setMaxListeners } from 'node:events';
import { systemClock } from '../../../core/async/node-clock.js';
import { Wakeup } from '../../../core/async/wakeup.js';
import type { HintQueue } from '../../../core/store/driver.js';
import type { Calls } from '../calls.js';
import { named } from '../server.js';
import { storedForm, textOfStored } from '../stored-text.js';

/** Largest number of hints per statement. */
const MOST_AT_ONCE = 1000;
/** Hints that are counted at most, so that counting stays cheap. */
const MOST_COUNTED = 100_000;
/** Hints at each end of the queue among which those to remove are searched. */
const MOST_SEARCHED = 10_000;

interface Needs {
  readonly calls: Calls;
  /** The table of all queues. */
  readonly table: string;
  /** Tells other clients that a queue has new hints. */
  readonly offered: (queue: string) => void;
  /** Aborts when the store is closed, with the error that its calls throw. */
  readonly closing: AbortSignal;
}

/** The queues of hints, and the polls of this client that wait in them. */
export class HintQueues {
  readonly #sql: QueueStatements;
  /** By queue. */
  readonly #polls = new Map<string, Set<Wakeup>>();

  constructor(private readonly needs: Needs) {
    this.#sql = statementsOf(needs.table);
    setMaxListeners(0, needs.closing);
  }

  open(name: string): HintQueue {
    return new TableQueue(name, { ...this.needs, sql: this.#sql, polls: this });
  }

  /** Names of the queues in which polls wait. */
  get polled(): string[] {
    return [...this.#polls.keys()];
  }

  /** Wakes the polls of one queue, which look for a hint then. */
  wake(queue: string): void {
    for (const poll of this.#polls.get(queue) ?? []) poll.ring();
  }

  wakeAll(): void {
    for (const queue of this.#polls.keys()) this.wake(queue);
  }

  /**
   * Takes a hint with `take`, and tries again whenever the queue is woken.
   *
   * @param patience ms
   * @returns undefined after the patience, or when the signal aborts
   * @throws the error of `take`, or of the closed store
   */
  async until<T>(
    { queue, patience, signal }: { readonly queue: string; readonly patience: number; readonly signal: AbortSignal },
    take: () => Promise<T | undefined>,
  ): Promise<T | undefined> {
    const end = systemClock.monotonic() + patience;
    const poll = this.#add(queue);
    signal.addEventListener('abort', poll.ring);
    this.needs.closing.addEventListener('abort', poll.ring);
    try {
      while (!signal.aborted) {
        poll.reset();
        const taken = await take();
        const left = end - systemClock.monotonic();
        if (taken !== undefined || left <= 0 || signal.aborted) return taken;
        await poll.wait(left);
        this.needs.closing.throwIfAborted();
        if (systemClock.monotonic() >= end) return undefined;
      }
      return undefined;
    } finally {
      signal.removeEventListener('abort', poll.ring);
      this.needs.closing.removeEventListener('abort', poll.ring);
      this.#remove(queue, poll);
    }
  }

  #add(queue: string): Wakeup {
    const polls = this.#polls.get(queue) ?? new Set();
    const poll = new Wakeup(systemClock);
    this.#polls.set(queue, polls.add(poll));
    return poll;
  }

  #remove(queue: string, poll: Wakeup): void {
    const polls = this.#polls.get(queue)!;
    polls.delete(poll);
    if (polls.size === 0) this.#polls.delete(queue);
  }
}

type QueueStatements = ReturnType<typeof statementsOf>;

function statementsOf(table: string) {
  const near = (order: string) => `SELECT id, hint FROM (
      SELECT id, hint FROM ${table} WHERE queue OPERATOR(pg_catalog.=) $1::pg_catalog.text
      ORDER BY id ${order} LIMIT ${MOST_SEARCHED}) AS near WHERE hint OPERATOR(pg_catalog.=) ANY($2::pg_catalog.text[])`;
  return {
    offer: named(`INSERT INTO ${table} (queue, hint) SELECT $1::pg_catalog.text, hint
      FROM pg_catalog.unnest($2::pg_catalog.text[]) WITH ORDINALITY AS each(hint, place) ORDER BY place`),
    take: named(`DELETE FROM ${table} WHERE queue OPERATOR(pg_catalog.=) $1::pg_catalog.text AND id OPERATOR(pg_catalog.=) ANY(ARRAY(
      SELECT id FROM ${table} WHERE queue OPERATOR(pg_catalog.=) $1::pg_catalog.text
      ORDER BY id LIMIT $2::pg_catalog.int8 FOR UPDATE SKIP LOCKED)) RETURNING id::pg_catalog.text AS id, hint`),
    remove: {
      text: `WITH found AS (
      SELECT id, hint, pg_catalog.row_number() OVER (PARTITION BY hint ORDER BY id) AS place FROM (${near('ASC')} UNION ${near('DESC')}) AS near),
      wanted AS (SELECT hint, pg_catalog.count(*) AS amount FROM pg_catalog.unnest($2::pg_catalog.text[]) AS hint GROUP BY hint)
      DELETE FROM ${table} AS hints USING found, wanted
      WHERE found.hint OPERATOR(pg_catalog.=) wanted.hint AND hints.queue OPERATOR(pg_catalog.=) $1::pg_catalog.text
        AND hints.id OPERATOR(pg_catalog.=) found.id AND found.place OPERATOR(pg_catalog.<=) wanted.amount`,
    },
    peek: {
      text: `SELECT hint FROM ${table} WHERE queue OPERATOR(pg_catalog.=) $1::pg_catalog.text ORDER BY id LIMIT 1`,
    },
    size: {
      text: `SELECT pg_catalog.count(*)::pg_catalog.int4 AS size
      FROM (SELECT FROM ${table} WHERE queue OPERATOR(pg_catalog.=) $1::pg_catalog.text LIMIT ${MOST_COUNTED}) AS counted`,
    },
  };
}

/**
 * A queue of hints: rows of a table, in the order of their numbers. Clients that take hints at the same time skip each
 * other's rows and do not wait.
 */
class TableQueue implements HintQueue {
  readonly #queue: string;

  constructor(
    private readonly name: string,
    private readonly needs: Needs & { readonly sql: QueueStatements; readonly polls: Pick<HintQueues, 'until'> },
  ) {
    this.#queue = storedForm(name);
  }

  async offer(hints: readonly string[]): Promise<void> {
    const { calls, sql, offered } = this.needs;
    for (let at = 0; at < hints.length; at += MOST_AT_ONCE) {
      const some = hints.slice(at, at + MOST_AT_ONCE).map(storedForm);
      await calls.write(sql.offer, [this.#queue, some]);
    }
    if (hints.length > 0) offered(this.name);
  }

  async poll(patience: number, signal: AbortSignal): Promise<string | undefined> {
    const hint = await this.needs.polls.until(
      { queue: this.name, patience, signal },
      async () => (await this.#take(1))[0],
    );
    if (hint === undefined || !signal.aborted) return hint;
    await this.offer([hint]).catch(() => undefined); // only a hint, so it may be lost
    return undefined;
  }

  async drain(most: number): Promise<string[]> {
    return most > 0 ? this.#take(most) : [];
  }

  async remove(hints: readonly string[]): Promise<void> {
    const { calls, sql } = this.needs;
    for (let at = 0; at < hints.length; at += MOST_AT_ONCE) {
      await calls.write(sql.remove, [this.#queue, hints.slice(at, at + MOST_AT_ONCE).map(storedForm)]);
    }
  }

  async peek(): Promise<string | undefined> {
    const [row] = await this.needs.calls.read(this.needs.sql.peek, [this.#queue]);
    return row && textOfStored(row['hint'] as string);
  }

  async size(): Promise<number> {
    const [row] = await this.needs.calls.read(this.needs.sql.size, [this.#queue]);
    return row!['size'] as number;
  }

  async #take(most: number): Promise<string[]> {
    const rows = await this.needs.calls.write(this.needs.sql.take, [this.#queue, most]);
    const taken = rows.map(({ id, hint }) => ({ id: Number(id), hint: textOfStored(hint as string) }));
    return taken.toSorted((one, other) => one.id - other.id).map(({ hint }) => hint);
  }
}
