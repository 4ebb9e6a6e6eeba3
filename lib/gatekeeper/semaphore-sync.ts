import type { Context } from '../core/context/context.js';
import { KEY_PREFIX, SHARD_PREFIX, type SemaphoreRecord, type ShardRecord } from '../core/decision/index.js';
import type { SemaphoreDirectory } from '../core/permits/semaphore-directory.js';
import { SweepPermit } from '../core/permits/sweep-permit.js';
import { type SweepDuty, alsoNowAndThen } from '../core/cell/cluster-sweep.js';
import { type DedicatedCell, freeExpired, isIdle, semaphoreCell } from '../core/cell/semaphore-records.js';
import { freeExpiredNames } from '../core/cell/shard-records.js';
import { RecordSync } from '../core/cell/record-sync.js';

interface SemaphoreSyncOptions {
  /** Whether only this process writes to the store. */
  readonly isOwn: boolean;
  /** ms */
  readonly interval: number;
  /** Whether this node has an archive. Then it must see every record from time to time. */
  readonly hasArchive: boolean;
  /** Whether the first load of definitions has begun. From then on each look also creates missing ones again. */
  readonly mayLoad: () => boolean;
  /** Hears of a change of a record that this node does not know. */
  readonly unknown: (name: string, text: string | undefined) => void;
}

/** For a store that only this process writes to. */
const ALWAYS: SweepDuty = { take: async () => true, isHeld: true };
const NEVER: SweepDuty = { take: async () => false, isHeld: false };

/**
 * Looks at the semaphores' own records, and at the shards of the names on demand.
 *
 * One node at a time sweeps the own records, and frees expired permits in them and in the shards. But every node looks
 * at all shards each time, because it restores lost shards and claims names in them. There are few shards.
 */
export class SemaphoreSync {
  readonly semaphores: RecordSync<SemaphoreRecord>;
  readonly shards: RecordSync<ShardRecord>;
  readonly #permit?: SweepPermit;
  readonly #duty: SweepDuty;

  constructor(
    private readonly directory: SemaphoreDirectory,
    private readonly context: Context,
    private readonly options: SemaphoreSyncOptions,
  ) {
    if (!options.isOwn) this.#permit = new SweepPermit(context, options.interval);
    this.#duty = this.#permit ?? ALWAYS;
    this.semaphores = this.#recordSync();
    this.shards = this.#shardSync();
  }

  /** Records that this node keeps in memory only because it sweeps. */
  get watched(): Iterable<DedicatedCell> {
    return this.semaphores.watched;
  }

  async start(): Promise<void> {
    await this.semaphores.start();
    await this.shards.start();
  }

  /**
   * Looks at the shards first, because the look at the own records ends with claims. Looks at the own records even if the
   * shards can't be read in time.
   *
   * @throws StoreUnavailableError
   */
  async sweep(): Promise<void> {
    const shards = this.directory.birth.hasHistory ? this.shards.sweep() : Promise.resolve();
    await Promise.allSettled([shards]);
    await this.semaphores.sweep();
    await shards;
  }

  /** @returns whether this node has the duty to sweep @throws StoreUnavailableError */
  takeDuty(): Promise<boolean> {
    return this.#duty.take();
  }

  /** Gives up the duty, so that another node may sweep at once. */
  async giveUpDuty(): Promise<void> {
    await this.#permit?.close();
  }

  async stop(): Promise<void> {
    await Promise.all([this.semaphores.stop(), this.shards.stop()]);
  }

  #recordSync(): RecordSync<SemaphoreRecord> {
    const { context, directory, options } = this;
    const duty = options.hasArchive ? alsoNowAndThen(this.#duty) : this.#duty;
    const records = {
      keyPrefix: KEY_PREFIX,
      directory: directory.own,
      open: (name: string) => semaphoreCell(name, context),
      isInUse: ({ permits }: SemaphoreRecord) => permits.some(({ instance }) => instance === context.node.instance),
      // The name of a record of a former version has no claim yet. The record is watched until the name is claimed.
      isIdle: (name: string, text: string) =>
        isIdle(text) && !(directory.birth.hasHistory && directory.shards.lacksClaim(name)),
      tidy: (cell: DedicatedCell) => freeExpired(cell, context),
      swept: async () => {
        if (options.mayLoad()) await directory.declared.load(this.watched);
      },
      unknown: options.unknown,
    };
    return new RecordSync(records, duty, context);
  }

  #shardSync(): RecordSync<ShardRecord> {
    const { context, directory, options } = this;
    return new RecordSync<ShardRecord>(
      {
        keyPrefix: SHARD_PREFIX,
        directory: {
          all: () => directory.shards.all(),
          // A node without history may have read the shards of another birth, so it must not restore them.
          find: (shard) => (directory.birth.hasHistory ? directory.shards.find(shard) : undefined),
        },
        open: (shard) => directory.shards.of(shard),
        // Each node restores what others hold: it may be the only one that has seen it. Most shards hold nothing.
        isInUse: ({ names, grace }) => names.size > 0 || grace !== undefined,
        isIdle: () => false,
        tidy: async (cell) => {
          if (this.#duty.isHeld) await freeExpiredNames(cell, context);
        },
        swept: async () => directory.verify(),
        // Every node reads all shards before it uses them, so no shard is unknown later.
        unknown: () => undefined,
      },
      options.isOwn ? ALWAYS : NEVER,
      context,
    );
  }
}
