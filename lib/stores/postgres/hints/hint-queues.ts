import type { HintQueue } from '../../../core/store/driver.js';
import type { HintPolls } from '../../../core/store/hint-polls.js';
import { portionsOf } from '../../../core/store/text-batches.js';
import type { Calls } from '../calls.js';
import { named } from '../server.js';
import { storedForm, textOfStored } from '../stored-text.js';

/** Largest number of hints per statement. */
const MOST_AT_ONCE = 1000;
/** Hints that are counted at most, so that counting stays cheap. */
const MOST_COUNTED = 100_000;
/** Hints at each end of the queue among which those to remove are searched. */
const MOST_SEARCHED = 10_000;

/** The parts of the driver that all queues use. */
export interface QueueNeeds {
  readonly calls: Calls;
  readonly sql: ReturnType<typeof queueStatements>;
  readonly polls: HintPolls;
  /** Tells other clients that a queue has new hints. */
  readonly offered: (queue: string) => void;
}

/** @param table of all queues */
export function queueStatements(table: string) {
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
export class TableQueue implements HintQueue {
  readonly #queue: string;

  constructor(
    readonly name: string,
    private readonly needs: QueueNeeds,
  ) {
    this.#queue = storedForm(name);
  }

  async offer(hints: readonly string[]): Promise<void> {
    const { calls, sql, offered } = this.needs;
    for (const some of portionsOf(hints.map(storedForm), MOST_AT_ONCE))
      await calls.write(sql.offer, [this.#queue, some]);
    if (hints.length > 0) offered(this.name);
  }

  poll(patience: number, signal: AbortSignal): Promise<string | undefined> {
    return this.needs.polls.poll(this, patience, signal);
  }

  async drain(most: number): Promise<string[]> {
    if (most <= 0) return [];
    const rows = await this.needs.calls.write(this.needs.sql.take, [this.#queue, most]);
    const taken = rows.map(({ id, hint }) => ({ id: Number(id), hint: textOfStored(hint as string) }));
    return taken.toSorted((one, other) => one.id - other.id).map(({ hint }) => hint);
  }

  async remove(hints: readonly string[]): Promise<void> {
    const { calls, sql } = this.needs;
    for (const some of portionsOf(hints.map(storedForm), MOST_AT_ONCE))
      await calls.write(sql.remove, [this.#queue, some]);
  }

  async peek(): Promise<string | undefined> {
    const [row] = await this.needs.calls.read(this.needs.sql.peek, [this.#queue]);
    return row && textOfStored(row['hint'] as string);
  }

  async size(): Promise<number> {
    const [row] = await this.needs.calls.read(this.needs.sql.size, [this.#queue]);
    return row!['size'] as number;
  }
}
