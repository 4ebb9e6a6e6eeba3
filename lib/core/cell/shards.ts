import {
  type NameClaim,
  EMPTY_SHARD,
  InvalidOptionsError,
  ROOT_KEY,
  SHARDS,
  SHARD_PREFIX,
  type SemaphoreRecord,
  type ShardRecord,
  blankShard,
  claimNames,
  decodeShardRoot,
  decodeShard,
  encodeShardRoot,
  encodeShard,
  isBlank,
  nameIn,
  isOwnName,
  shardOf,
  show,
} from '../decision/index.js';
import { forEachLimit } from '../async/for-each-limit.js';
import type { Context } from '../context/context.js';
import { isUnreadable } from './known-record.js';
import { readRecord } from './list-records.js';
import { LIST_FACTOR } from '../store/store.js';
import type { Plan } from './plan.js';
import { type ShardCell, shardCell } from './shard-records.js';
import { TextCells } from './text-cells.js';
import type { SemaphoreChanged } from './semaphore-records.js';

interface ShardsOptions {
  /** Whether only this process writes to the store. Then a missing shard never existed. */
  readonly isOwn: boolean;
  /** Number of shards: a constant of the format, smaller only in simulations. */
  readonly shards?: number;
  /**
   * Whether there is an archive. Archived definitions may pause names, so no name is granted before they are loaded.
   */
  readonly awaitsArchive: boolean;
  /** Hears of each changed name. */
  readonly nameChanged: (name: string, change: SemaphoreChanged) => void;
}

/** All shards of the names on demand, as this node knows them. */
export class Shards {
  readonly #cells = new Map<string, ShardCell>();
  readonly #count: number;
  /** The names of all shards. */
  readonly keys: readonly string[];
  #making?: Promise<void> | undefined;
  /** Whether `#making` has succeeded: then a call need not wait for a promise. */
  #areMade = false;
  #isRead = false;
  #isLoaded = false;

  constructor(
    private readonly context: Context,
    private readonly options: ShardsOptions,
  ) {
    this.#count = options.shards ?? SHARDS;
    this.keys = Array.from({ length: this.#count }, (_, shard) => String(shard));
  }

  get isOwn(): boolean {
    return this.options.isOwn;
  }

  /** Whether this node may grant names on demand: it has read all shards, and archived definitions are loaded. */
  get isReady(): boolean {
    return this.isOwn || (this.#isRead && (this.#isLoaded || !this.options.awaitsArchive));
  }

  /** Notes that this node has read all shards. From then on, a missing shard was lost. */
  markRead(): void {
    this.#isRead = true;
  }

  /** Notes that the archived definitions are in the shards. */
  markLoaded(): void {
    this.#isLoaded = true;
  }

  /** Reads the texts of all shards from the store, by key. @throws StoreUnavailableError */
  texts(): Promise<Map<string, string>> {
    const { store, timing } = this.context;
    const keys = this.keys.map((shard) => SHARD_PREFIX + shard);
    return store.records.readMany(keys, { timeout: LIST_FACTOR * timing.callTimeout });
  }

  /** Asks the store for one text. @throws the store's error, if that is why the shards are not read */
  async expectStore(): Promise<void> {
    await readRecord(this.context, ROOT_KEY);
  }

  /** Forgets all shards that were read, because they may belong to another birth. */
  forget(): void {
    this.#cells.clear();
  }

  /**
   * The cell of a shard, if there is one. If only this process writes to the store, creates the cell: then another
   * node of this process made the shard.
   */
  find(shard: string): ShardCell | undefined {
    return this.#cells.get(shard) ?? (this.isOwn && this.keys.includes(shard) ? this.of(shard) : undefined);
  }

  all(): Iterable<ShardCell> {
    return this.#cells.values();
  }

  /** The cell of a shard; creates it if needed. @throws InvalidOptionsError if there is no such shard */
  of(shard: string): ShardCell {
    const known = this.#cells.get(shard);
    if (known) return known;
    if (!this.keys.includes(shard)) {
      throw new InvalidOptionsError('a shard', [`${show(shard)} is not a number from 0 to ${this.#count - 1}`]);
    }
    const cell = shardCell(shard, this.context, this.options.nameChanged);
    this.#cells.set(shard, cell);
    return cell;
  }

  /** The shard that a semaphore's name belongs to, as in {@link keys}. */
  keyOf(name: string): string {
    return shardOf(name, this.#count);
  }

  /** Carries out a plan on a shard. Errors as of {@link Cell.transact}. */
  transact<T>(shard: string, plan: Plan<ShardRecord, T>): Promise<T> {
    return this.makeOwn()?.then(() => this.of(shard).transact(plan)) ?? this.of(shard).transact(plan);
  }

  /**
   * Makes all shards, if only this process writes to the store. Call it also before other processes reach the store through
   * this one: their births would change blank shards again, which this node would take for lost data and restore.
   *
   * @returns nothing if there is nothing to make, or it is done
   */
  makeOwn(): Promise<void> | undefined {
    return !this.isOwn || this.#areMade ? undefined : (this.#making ??= this.#make());
  }

  /** A missing shard counts as empty only in a store that no other process writes to. */
  orEmpty(shard: ShardRecord | undefined): ShardRecord | undefined {
    return shard ?? (this.isOwn ? EMPTY_SHARD : undefined);
  }

  /** All names in the shards, with their records, as this node last knew them. */
  *names(): Generator<[string, SemaphoreRecord]> {
    for (const { known } of this.#cells.values()) {
      for (const name of known?.names.keys() ?? []) yield [name, nameIn(known!, name)];
    }
  }

  /** The names in the shards that an operator defined, with their records. */
  *definedNames(): Generator<[string, SemaphoreRecord]> {
    for (const [name, record] of this.names()) if (this.isDefined(name)) yield [name, record];
  }

  /** Whether a name has a claim, as this node last knew it. */
  isClaimed(name: string): boolean {
    return this.#knownOf(name)?.claims.has(name) ?? false;
  }

  /**
   * Whether the claim of a record's name is missing. The package's own records need no claim: they are never on demand,
   * and do no harm when they are created anew without a grace.
   */
  lacksClaim(name: string): boolean {
    return !isOwnName(name) && !this.isClaimed(name);
  }

  /** Whether a name's shard has an operator's definition of it, as this node last knew it. */
  isDefined(name: string): boolean {
    return this.#knownOf(name)?.names.get(name)?.definition !== undefined;
  }

  /** The record of a name that an operator defined in its shard, as this node last knew it. */
  definedRecordOf(name: string): SemaphoreRecord | undefined {
    return this.isDefined(name) ? nameIn(this.#knownOf(name)!, name) : undefined;
  }

  /** Whether a definition, a permit or a grace in the shard may prevent a claim of a name, as this node last knew it. */
  keepsUnclaimed(name: string): boolean {
    const known = this.#knownOf(name);
    return known !== undefined && (known.names.has(name) || known.grace !== undefined);
  }

  /** Whether a name has neither an entry nor a claim in its shard, as this node last knew it. */
  lacks(name: string): boolean {
    const known = this.#knownOf(name);
    return known !== undefined && !known.names.has(name) && !known.claims.has(name);
  }

  /** Upper bound of a name's revision, as this node last knew it. */
  revisionOf(name: string): number | undefined {
    const known = this.#knownOf(name);
    return known && (known.names.get(name)?.revision ?? known.revision);
  }

  /**
   * Adds claims, with one write per shard. A shard that can't be read does not stop the others.
   *
   * @throws if the store can't be asked
   */
  async claim(claims: readonly NameClaim[]): Promise<void> {
    const byShard = new Map<string, NameClaim[]>();
    for (const each of claims) {
      const shard = this.keyOf(each.name);
      byShard.set(shard, [...(byShard.get(shard) ?? []), each]);
    }
    await forEachLimit([...byShard], async ([key, due]) => {
      const noting = this.transact<void>(key, (record, view, nonce) => {
        const shard = this.orEmpty(record);
        const next = shard && claimNames(shard, due, view, nonce);
        return next ? { write: next, done: () => undefined } : { result: undefined };
      });
      // The cell of the shard has reported the error.
      await noting.catch((error: unknown) => {
        if (!isUnreadable(error)) throw error;
      });
    });
  }

  /** Origin of the record that has claimed a name, as this node last knew it. */
  claimOf(name: string): string | undefined {
    return this.#knownOf(name)?.claims.get(name);
  }

  async #make(): Promise<void> {
    try {
      await makeOwnShards(this.context, this.keys);
      this.#areMade = true;
    } catch (error) {
      this.#making = undefined;
      throw error;
    }
  }

  #knownOf(name: string): ShardRecord | undefined {
    return this.#cells.get(this.keyOf(name))?.known;
  }
}

/**
 * Makes all shards and an open root in a store of this process, as the birth of a cluster does. Other nodes may use the
 * store over `remote()`. Without a root they would take missing shards for lost ones.
 *
 * One of them may have begun a birth. Its empty shards are made anew, because nodes that join restore all shards of another
 * birth than the root's, with a grace. It can't go on then: each of its writes expects what it had read before.
 *
 * @param shards names of all shards
 * @throws if the store can't be asked; the next call makes what is missing
 */
async function makeOwnShards(context: Context, shards: readonly string[]): Promise<void> {
  const { store, random } = context;
  const found = await store.records.read(ROOT_KEY);
  if (found !== undefined && decodeShardRoot(found).state === 'open') return;
  const id = random.id();
  const texts = new TextCells(store.records, context, { notify: 'none' });
  await forEachLimit(shards, (shard) =>
    texts.change<void>(SHARD_PREFIX + shard, (text) =>
      isKept(id, shard, text)
        ? { result: undefined }
        : { write: encodeShard(blankShard(id, 0, random.id())), done: () => undefined },
    ),
  );
  await store.records.compareAndSet(ROOT_KEY, found, encodeShardRoot({ nonce: random.id(), id, state: 'open' }));
}

/** Whether a shard stays as it is: it was made in this birth, has names or a grace, or can't be read. */
function isKept(id: string, shard: string, text: string | undefined): boolean {
  if (text === undefined) return false;
  try {
    const found = decodeShard(shard, text);
    return found.birth === id || !isBlank(found);
  } catch (error) {
    if (!isUnreadable(error)) throw error;
    return true;
  }
}
