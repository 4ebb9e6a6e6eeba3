import type { HintQueue } from '../../../core/store/driver.js';
import type { Calls } from '../calls.js';
import { storedForm, textOfStored } from '../stored-text.js';
import type { ChangeFeed } from './change-feed.js';
import type { WaitingPolls } from './waiting-polls.js';

/** Largest number of hints per statement. */
const MOST_AT_ONCE = 1000;
/** Hints that are counted at most, so that counting stays cheap. */
const MOST_COUNTED = 100_000;
/** Hints at each end of the queue among which those to remove are searched. */
const MOST_SEARCHED = 10_000;

interface Needs {
  readonly calls: Calls;
  readonly polls: WaitingPolls;
  /** The table of all queues. */
  readonly table: string;
  readonly feed: Pick<ChangeFeed, 'offered'>;
}

/**
 * A queue of hints: rows of a table, in the order of their numbers. Clients that take hints at the same time skip each
 * other's rows and do not wait.
 */
export class TableQueue implements HintQueue {
  readonly #queue: string;

  constructor(
    private readonly name: string,
    private readonly needs: Needs,
  ) {
    this.#queue = storedForm(name);
  }

  async offer(hints: readonly string[]): Promise<void> {
    const { calls, table, feed } = this.needs;
    const text = `INSERT INTO ${table} (queue, hint) SELECT $1::pg_catalog.text, hint
      FROM pg_catalog.unnest($2::pg_catalog.text[]) WITH ORDINALITY AS each(hint, place) ORDER BY place`;
    for (let at = 0; at < hints.length; at += MOST_AT_ONCE) {
      const some = hints.slice(at, at + MOST_AT_ONCE).map(storedForm);
      await calls.write({ name: `gatekeeper.${table.replaceAll('"', '')}.offer`, text }, [this.#queue, some]);
    }
    if (hints.length > 0) feed.offered(this.name);
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
    const { calls, table } = this.needs;
    const near = (order: string) => `SELECT id, hint FROM (
      SELECT id, hint FROM ${table} WHERE queue OPERATOR(pg_catalog.=) $1::pg_catalog.text
      ORDER BY id ${order} LIMIT ${MOST_SEARCHED}) AS near WHERE hint OPERATOR(pg_catalog.=) ANY($2::pg_catalog.text[])`;
    const text = `WITH found AS (
      SELECT id, hint, pg_catalog.row_number() OVER (PARTITION BY hint ORDER BY id) AS place FROM (${near('ASC')} UNION ${near('DESC')}) AS near),
      wanted AS (SELECT hint, pg_catalog.count(*) AS amount FROM pg_catalog.unnest($2::pg_catalog.text[]) AS hint GROUP BY hint)
      DELETE FROM ${table} AS hints USING found, wanted
      WHERE found.hint OPERATOR(pg_catalog.=) wanted.hint AND hints.queue OPERATOR(pg_catalog.=) $1::pg_catalog.text
        AND hints.id OPERATOR(pg_catalog.=) found.id AND found.place OPERATOR(pg_catalog.<=) wanted.amount`;
    for (let at = 0; at < hints.length; at += MOST_AT_ONCE) {
      await calls.write({ text }, [this.#queue, hints.slice(at, at + MOST_AT_ONCE).map(storedForm)]);
    }
  }

  async peek(): Promise<string | undefined> {
    const text = `SELECT hint FROM ${this.needs.table} WHERE queue OPERATOR(pg_catalog.=) $1::pg_catalog.text ORDER BY id LIMIT 1`;
    const [row] = await this.needs.calls.read({ text }, [this.#queue]);
    return row && textOfStored(row['hint'] as string);
  }

  async size(): Promise<number> {
    const text = `SELECT pg_catalog.count(*)::pg_catalog.int4 AS size
      FROM (SELECT FROM ${this.needs.table} WHERE queue OPERATOR(pg_catalog.=) $1::pg_catalog.text LIMIT ${MOST_COUNTED}) AS counted`;
    const [row] = await this.needs.calls.read({ text }, [this.#queue]);
    return row!['size'] as number;
  }

  async #take(most: number): Promise<string[]> {
    const { calls, table } = this.needs;
    const text = `DELETE FROM ${table} WHERE queue OPERATOR(pg_catalog.=) $1::pg_catalog.text AND id OPERATOR(pg_catalog.=) ANY(ARRAY(
      SELECT id FROM ${table} WHERE queue OPERATOR(pg_catalog.=) $1::pg_catalog.text
      ORDER BY id LIMIT $2::pg_catalog.int8 FOR UPDATE SKIP LOCKED)) RETURNING id::pg_catalog.text AS id, hint`;
    const rows = await calls.write({ name: `gatekeeper.${table.replaceAll('"', '')}.take`, text }, [this.#queue, most]);
    const taken = rows.map(({ id, hint }) => ({ id: Number(id), hint: textOfStored(hint as string) }));
    return taken.toSorted((one, other) => one.id - other.id).map(({ hint }) => hint);
  }
}
