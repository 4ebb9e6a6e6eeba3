import { spreadOf } from '../decision/texts/spread.js';
import type { Context } from '../context/context.js';
import { MOST_KEYS } from '../store/index.js';
import type { RecordMaintainer } from './record-maintainer.js';
import { askTimeOf } from './known-record.js';
import type { StoredRecord } from './record-codec.js';
import type { Cell } from './cell.js';
import type { SyncedRecords } from './synced-records.js';

/** Least number of looks until a node has looked at each record that it knows. It is higher with many records. */
const ROUND = 6;
/** Approximate number of unused records per look, so that the cost of a look does not grow with their number. */
const MOST_IDLE = 500;

/** Looks at the records that this node knows: each time at those that are in use, and in turn at the others. */
export class KnownRecordsResync<R extends StoredRecord> {
  #turn = 0;
  #rounds = ROUND;

  constructor(
    private readonly records: Pick<SyncedRecords<R>, 'directory' | 'isInUse'>,
    private readonly maintainer: RecordMaintainer<R>,
    private readonly context: Context,
  ) {}

  /**
   * Looks at the records that are in use, or that this node used since the last look. Also looks at a sixth of the rest,
   * or at about {@link MOST_IDLE} of them if that is less.
   */
  async look(): Promise<void> {
    this.#turn = (this.#turn + 1) % this.#rounds;
    let known = 0;
    await this.#lookAt((cell) => {
      known++;
      const wasUsed = cell.takeUse();
      // The turn depends on the name only, so that no record is skipped when others are added or removed.
      return wasUsed || this.#isInUse(cell) || spreadOf(cell.name, this.#rounds) === this.#turn;
    });
    this.#rounds = Math.max(ROUND, Math.ceil(known / MOST_IDLE));
  }

  /** Looks at all records that this node knows: if one record was lost, others may be lost too. */
  lookAtAll(): Promise<void> {
    return this.#lookAt(() => true);
  }

  /** Looks at these records with one call for {@link MOST_KEYS} of them. */
  async lookAtEach(cells: readonly Cell<R>[]): Promise<void> {
    for (let at = 0; at < cells.length; at += MOST_KEYS) await this.#examine(cells.slice(at, at + MOST_KEYS));
  }

  #isInUse({ known }: Cell<R>): boolean {
    return known !== undefined && this.records.isInUse(known);
  }

  async #lookAt(isDue: (cell: Cell<R>) => boolean): Promise<void> {
    let batch: Cell<R>[] = [];
    for (const cell of this.records.directory.all()) {
      await this.maintainer.turn();
      if (isDue(cell)) batch.push(cell);
      if (batch.length < MOST_KEYS) continue;
      await this.#examine(batch);
      batch = [];
    }
    if (batch.length > 0) await this.#examine(batch);
  }

  async #examine(cells: readonly Cell<R>[]): Promise<void> {
    const keys = cells.map(({ key }) => key);
    const askedAt = askTimeOf(this.context);
    const texts = await this.context.store.records.readMany(keys);
    this.context.reachability.back();
    for (const cell of cells) {
      if (this.maintainer.isStopped) return;
      await this.maintainer.turn();
      await this.maintainer.examine(cell, texts.get(cell.key), askedAt);
    }
  }
}
