import { systemClock } from '../../../core/async/node-clock.js';
import { Periodic } from '../../../core/async/periodic.js';
import { AwaitedKeys } from '../../../core/store/awaited-keys.js';
import type { ChangeAnnouncer } from '../../../core/store/change-announcer.js';
import type { TextCollection } from '../../../core/store/driver.js';
import type { HintPolls } from '../../../core/store/hint-polls.js';
import type { Calls } from '../calls.js';
import { storedForm, textOfStored } from '../stored-text.js';
import type { Tables } from '../tables.js';

/** The parts of the driver of which the poller tells, and which it asks. */
export interface PolledParts {
  readonly calls: Calls;
  readonly tables: Tables;
  readonly polls: HintPolls;
  readonly records: Pick<TextCollection, 'readMany'>;
  readonly announcer: ChangeAnnouncer;
}

/** Largest number of changes of one look. After more of them, anything may have changed. */
const MOST_CHANGES = 500;
/**
 * Numbers before the last one that are looked at again: a write with a lower number may become visible later than one with
 * a higher number. One statement takes up to 32 numbers, and each node has up to two of them under way.
 */
const OVERLAP = 200;

/**
 * Looks for changes from time to time, while no notifications arrive: edits, by the number in the column `noted`; the
 * records that this client waits for; and the queues in which its polls wait. The cost depends on what is awaited, not on
 * the number of records.
 */
export class ChangePoller {
  readonly awaited = new AwaitedKeys();
  readonly #periodic: Periodic;
  readonly #sql: ReturnType<typeof looksAt>;
  #last: number | undefined;
  /** Numbers within the overlap that were seen. */
  #seen: ReadonlySet<number> = new Set();
  #texts: ReadonlyMap<string, string> = new Map();

  /** @param isNeeded whether no notifications arrive now */
  constructor(
    private readonly parts: PolledParts,
    interval: number,
    private readonly isNeeded: () => boolean,
  ) {
    this.#sql = looksAt(parts.tables);
    this.#periodic = new Periodic(systemClock, () => this.#look(), {
      interval: () => interval,
      chance: Math.random,
      onError: () => undefined, // the next look may succeed, and the call noted the problem
    });
    this.#periodic.start();
  }

  /** Call this for a new connection: another server, or new tables, may have other numbers. */
  readonly forget = (): void => {
    this.#last = undefined;
    this.#seen = new Set();
  };

  stop(): void {
    this.#periodic.stop();
  }

  async #look(): Promise<void> {
    if (!this.isNeeded()) return this.forget();
    this.parts.calls.assertOpen();
    await this.#lookAtNotes();
    await this.#lookAtAwaited();
    await this.#lookAtQueues();
  }

  async #lookAtNotes(): Promise<void> {
    if (this.#last === undefined) return this.#begin();
    const rows = await this.parts.calls.read({ text: this.#sql.changes }, [this.#last - OVERLAP]);
    const changes = rows.map(({ key, noted }) => ({ key: textOfStored(key as string), noted: noted as number }));
    const fresh = changes.filter(({ noted }) => !this.#seen.has(noted));
    this.#last = changes.at(-1)?.noted ?? this.#last;
    this.#seen = new Set(changes.map(({ noted }) => noted));
    if (changes.length === MOST_CHANGES) return this.parts.announcer.anything();
    for (const { key } of fresh) void this.parts.announcer.changed(key);
  }

  /** Between the last notification and the first look, anything may have changed. */
  async #begin(): Promise<void> {
    const [row] = await this.parts.calls.read({ text: this.#sql.newest }, []);
    this.#last = row!['noted'] as number;
    this.parts.announcer.anything();
  }

  async #lookAtAwaited(): Promise<void> {
    const keys = [...this.awaited].filter((key) => key !== undefined);
    const texts = keys.length > 0 ? await this.parts.records.readMany(keys) : new Map<string, string>();
    const before = this.#texts;
    this.#texts = texts;
    // Also tells of a text at its first look: it may have changed since its waiter read it.
    for (const [key, text] of texts) if (before.get(key) !== text) void this.parts.announcer.changed(key, text);
  }

  async #lookAtQueues(): Promise<void> {
    const { polls, calls } = this.parts;
    const { queues } = polls;
    if (queues.length === 0) return;
    const rows = await calls.read({ text: this.#sql.offered }, [queues.map(storedForm)]);
    for (const { queue } of rows) polls.wake(textOfStored(queue as string));
  }
}

const looksAt = ({ records, hints }: Tables) => ({
  newest: `SELECT coalesce(pg_catalog.max(noted), 0::pg_catalog.int8)::pg_catalog.float8 AS noted FROM ${records}`,
  changes: `SELECT key, noted::pg_catalog.float8 AS noted FROM ${records}
        WHERE noted OPERATOR(pg_catalog.>) $1::pg_catalog.int8 ORDER BY noted LIMIT ${MOST_CHANGES}`,
  offered: `SELECT queue FROM pg_catalog.unnest($1::pg_catalog.text[]) AS each(queue)
        WHERE EXISTS (SELECT FROM ${hints} AS hint WHERE hint.queue OPERATOR(pg_catalog.=) each.queue)`,
});
