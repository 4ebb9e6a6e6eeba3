import type { Subscription } from 'rxjs';
import { pause } from '../async/pause.js';
import { isOwnName } from '../decision/index.js';
import type { RecordChange } from '../store/index.js';
import type { Context } from '../context/context.js';
import { RecordMaintainer } from './record-maintainer.js';
import { ClusterSweep, type SweepDuty } from './cluster-sweep.js';
import { KnownRecordsResync } from './known-records-resync.js';
import type { StoredRecord } from './record-codec.js';
import type { Cell } from './cell.js';
import type { SyncedRecords } from './synced-records.js';

/** ms between two looks because of hints. */
const HINT_PAUSE = 100;

/**
 * Keeps this node's records of one kind up to date with other nodes' writes. It uses the store's watch, which is only a
 * hint, and looks at the records from time to time. The node that has the duty also maintains records that no other
 * living node knows.
 *
 * ```
 *   every sweepInterval ─▶ has this node the duty? ── yes ─▶ ClusterSweep: every record of the store, in pages
 *                                                  └─ no ──▶ KnownRecordsResync: records it holds or used, some of the rest
 *   reconnection, a change of members, a loss found ───────▶ KnownRecordsResync: all records that this node knows, at once
 *   a hint that is older than the record, or unproven ─────▶ KnownRecordsResync: the known ones of those that came meanwhile
 * ```
 *
 * No promise depends on which node has the duty. A node that knows a record restores it if it is lost: its holders know
 * it, and each node that defines it. The sweeping node knows it if it has permits or an operator's change. Two sweeps
 * at the same time do no harm, nor does a sweep that continues after a freeze: each write is a compare-and-set that
 * decides again from the present text, and a node ends a lease only by its own observations.
 */
export class RecordSync<R extends StoredRecord> {
  readonly #maintainer: RecordMaintainer<R>;
  readonly #known: KnownRecordsResync<R>;
  readonly #cluster: ClusterSweep<R>;
  #endWatch?: () => Promise<void>;
  #losses?: Subscription;
  /** Known records that hints cast doubt on, and that wait for a look. */
  readonly #doubtful = new Set<Cell<R>>();
  #isLookingAtDoubtful = false;
  /** Whether a look at all known records is in progress. */
  #isLooking = false;
  /** Whether another look must follow. */
  #isLookDue = false;

  constructor(
    private readonly records: SyncedRecords<R>,
    private readonly duty: SweepDuty,
    private readonly context: Context,
  ) {
    this.#maintainer = new RecordMaintainer(records, context);
    this.#known = new KnownRecordsResync(records, this.#maintainer, context);
    this.#cluster = new ClusterSweep(records, this.#maintainer, context);
  }

  /** Records that this node keeps in memory only because it sweeps. */
  get watched(): Iterable<Cell<R>> {
    return this.#cluster.watched;
  }

  async start(): Promise<void> {
    this.#losses = this.context.events.subscribe(({ type }) => {
      // A record that is restored during a look at all records needs no second look.
      if (type === 'restored' && !this.#isLooking) this.#resynchronise();
    });
    this.#endWatch = await this.context.store.watch(this.records.keyPrefix, (change) => this.#takeIn(change));
  }

  /** Stops. A sweep in progress ends soon. */
  async stop(): Promise<void> {
    this.#maintainer.stop();
    this.#losses?.unsubscribe();
    await this.#endWatch?.();
  }

  /** @throws StoreUnavailableError */
  async sweep(): Promise<void> {
    if (!this.context.clusterClock.isFresh) await this.context.clusterClock.sample();
    if (await this.duty.take()) await this.#cluster.sweep(this.duty);
    else {
      this.#cluster.forget();
      await this.#known.look();
    }
    if (!this.#maintainer.isStopped) await this.records.swept();
  }

  #takeIn({ key, text, isUnproven }: RecordChange): void {
    // No key means that anything may have changed, also data and the members' clocks, for example after a reconnection.
    if (key === undefined) return this.#resynchronise();
    const name = key.slice(this.records.keyPrefix.length);
    if (isOwnName(name)) return;
    const cell = this.records.directory.find(name);
    if (!cell) return isUnproven ? undefined : this.records.unknown(name, text);
    try {
      // The text is older than the known record: the store lost data, or the hint came late.
      if (text === undefined || !cell.observe(text)) this.#lookSoon(cell);
    } catch (error) {
      this.#maintainer.report(error, 'take in a change');
    }
  }

  /** Looks at a record at once, or together with others after a pause: others decide how many hints come. */
  #lookSoon(cell: Cell<R>): void {
    this.#doubtful.add(cell);
    if (!this.#isLookingAtDoubtful) void this.#lookAtDoubtful();
  }

  async #lookAtDoubtful(): Promise<void> {
    this.#isLookingAtDoubtful = true;
    while (this.#doubtful.size > 0 && !this.#maintainer.isStopped) {
      const cells = [...this.#doubtful];
      this.#doubtful.clear();
      await this.#known.lookAtEach(cells).catch((error: unknown) => this.#maintainer.report(error, 'take in a change'));
      await pause(this.context.nodeClock, HINT_PAUSE, { isAwaited: false });
    }
    this.#isLookingAtDoubtful = false;
  }

  /** Looks at all known records. A call during such a look starts one more look after it. */
  #resynchronise(): void {
    this.#isLookDue = true;
    if (!this.#isLooking) void this.#lookWhileDue();
  }

  async #lookWhileDue(): Promise<void> {
    this.#isLooking = true;
    while (this.#isLookDue && !this.#maintainer.isStopped) {
      this.#isLookDue = false;
      await this.#lookAtAll();
    }
    this.#isLooking = false;
  }

  async #lookAtAll(): Promise<void> {
    try {
      await this.context.clusterClock.sample();
      await this.#known.lookAtAll();
      await this.records.swept();
    } catch (error) {
      this.#maintainer.report(error, 'take in a change');
    }
  }
}
