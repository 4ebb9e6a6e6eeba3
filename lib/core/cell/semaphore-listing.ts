import {
  InvalidOptionsError,
  KEY_PREFIX,
  type SemaphoreRecord,
  SHARD_PREFIX,
  type ShardRecord,
  decodeRecord,
  decodeShard,
  isActive,
  isOwnName,
  messageOf,
  nameIn,
} from '../decision/index.js';
import { type Pieces, inSlices } from '../async/slices.js';
import type { Context } from '../context/context.js';
import { DecodeCache } from './decode-cache.js';
import { isUnreadable } from './known-record.js';
import { listRecords, readRecord } from './list-records.js';
import type { DedicatedRecords } from './dedicated-records.js';
import type { Cell } from './cell.js';
import type { StoredRecord } from './record-codec.js';
import type { Shards } from './shards.js';

/** A semaphore's record, or the error that says why it can't be read. */
export type Listed = SemaphoreRecord | Error;

/** The semaphores that a change of many may change. */
interface ChangeableSemaphores {
  readonly records: ReadonlyMap<string, SemaphoreRecord>;
  /** Records that can't be read, by the semaphore's name. A newer version may have written them, and grant by them. */
  readonly unreadable: ReadonlyMap<string, Error>;
  /** Shards that can't be read, by key: each may have any name that has no own record. */
  readonly unreadableShards: ReadonlyMap<string, Error>;
}

/** Lists the semaphores of the store by name: those with their own records and those in shards. */
export class SemaphoreListing {
  readonly #own = new DecodeCache(decodedOrFault(decodeRecord, KEY_PREFIX));
  readonly #shards = new DecodeCache(decodedOrFault(decodeShard, SHARD_PREFIX));
  #readAt?: number;

  constructor(
    private readonly own: DedicatedRecords,
    private readonly shards: Shards,
    private readonly context: Context,
  ) {}

  /** Begin of the last complete listing: the node's monotonic ms. Undefined before the first. */
  get readAt(): number | undefined {
    return this.#readAt;
  }

  /** All semaphores except the package's own. @throws StoreUnavailableError */
  async all(): Promise<Map<string, Listed>> {
    const begun = this.context.nodeClock.monotonic();
    const [own, shards] = await Promise.all([listRecords(this.context, KEY_PREFIX), this.shards.texts()]);
    const records = await this.#merged(this.#own.all(own), this.#shards.all(shards));
    this.#readAt = begun;
    return records;
  }

  /**
   * The semaphores as this node last knew them, without asking the store: those of the last complete listing, or newer
   * records that this node has seen.
   *
   * @param only name of a single semaphore. Default: all semaphores
   */
  async known(only?: string): Promise<Map<string, Listed>> {
    const own = newest(this.#own.last(), this.own.all());
    const records = await this.#merged(own, newest(this.#shards.last(), this.shards.all()));
    if (only === undefined) return records;
    const found = records.get(only);
    return new Map(found ? [[only, found]] : []);
  }

  /** Semaphores with their own records whose names begin with `prefix`. @throws StoreUnavailableError */
  async ownWith(prefix: string): Promise<Map<string, Listed>> {
    const own = await listRecords(this.context, KEY_PREFIX + prefix);
    return this.#merged(this.#own.some(own), this.#shards.some(new Map()));
  }

  /** One semaphore; empty if the store has none of that name. @throws StoreUnavailableError */
  async one(name: string): Promise<Map<string, Listed>> {
    const [own, shard] = await Promise.all([
      readRecord(this.context, KEY_PREFIX + name),
      readRecord(this.context, SHARD_PREFIX + this.shards.keyOf(name)),
    ]);
    const found = await this.#merged(this.#own.some(own), this.#shards.some(shard));
    // A name without an own record is in its shard. So a fault of the shard is a fault of the name.
    const listed = found.get(name) ?? [...found.values()].find((each) => each instanceof Error);
    return new Map(listed ? [[name, listed]] : []);
  }

  /**
   * Lists the semaphores that have a definition, and gives each listed text to its cell, so that a later change
   * starts from it. Leaves out the package's own. Also leaves out names that only exist because of a permit: a change
   * would give them a lasting definition.
   *
   * @param wanted whether a name is wanted; other names leave nothing in memory
   * @param named a name that is listed even if it only exists because of a permit
   * @throws StoreUnavailableError
   */
  async listChangeable(wanted: (name: string) => boolean, named?: string): Promise<ChangeableSemaphores> {
    const [own, shards] = await Promise.all([listRecords(this.context, KEY_PREFIX), this.shards.texts()]);
    return inSlices(this.#takeIn(own, shards, wanted, named), this.context.nodeClock);
  }

  *#takeIn(
    own: ReadonlyMap<string, string>,
    shards: ReadonlyMap<string, string>,
    wanted: (name: string) => boolean,
    named: string | undefined,
  ): Pieces<ChangeableSemaphores> {
    const records = new Map<string, SemaphoreRecord>();
    const unreadable = new Map<string, Error>();
    const unreadableShards = new Map<string, Error>();
    for (const [key, text] of shards) {
      const shard = this.#shard(key.slice(SHARD_PREFIX.length), text);
      if (shard instanceof Error) unreadableShards.set(key, shard);
      else if (shard) takeNames(shard, { records, wanted, named });
      yield 1;
    }
    for (const [key, text] of own) {
      const name = key.slice(KEY_PREFIX.length);
      const record = isOwnName(name) || !wanted(name) ? undefined : known(() => this.own.of(name), text);
      if (record instanceof Error) unreadable.set(name, record);
      else if (record && isActive(record)) records.set(name, record);
      yield 1;
    }
    // A name's own record decides, even if its shard has the name, too.
    for (const name of unreadable.keys()) records.delete(name);
    return { records, unreadable, unreadableShards };
  }

  /** Before this node has read the shards, their texts are only shown: a change of a name waits until it has. */
  #shard(shard: string, text: string): ShardRecord | Error | undefined {
    return this.shards.isReady ? known(() => this.shards.of(shard), text) : orFault(() => decodeShard(shard, text));
  }

  async #merged(
    own: Pieces<Map<string, Listed>>,
    shards: Pieces<Map<string, ShardRecord | Error>>,
  ): Promise<Map<string, Listed>> {
    const { nodeClock } = this.context;
    return inSlices(merged(await inSlices(own, nodeClock), await inSlices(shards, nodeClock)), nodeClock);
  }
}

interface Taking {
  readonly records: Map<string, SemaphoreRecord>;
  readonly wanted: (name: string) => boolean;
  readonly named: string | undefined;
}

function takeNames(shard: ShardRecord, { records, wanted, named }: Taking): void {
  for (const [name, { definition }] of shard.names) {
    if ((definition || name === named) && wanted(name)) records.set(name, nameIn(shard, name));
  }
}

/**
 * Merges both kinds of records. If a name has an active own record, lists that record instead of the name in the shard.
 */
function* merged(
  own: ReadonlyMap<string, Listed>,
  shards: ReadonlyMap<string, ShardRecord | Error>,
): Pieces<Map<string, Listed>> {
  const records = new Map<string, Listed>();
  for (const [key, shard] of shards) {
    if (shard instanceof Error) records.set(key, shard);
    else for (const name of shard.names.keys()) records.set(name, nameIn(shard, name));
    yield 1;
  }
  for (const [key, record] of own) {
    const name = key.slice(KEY_PREFIX.length);
    if (!isOwnName(name) && (record instanceof Error || isActive(record))) records.set(name, record);
    yield 1;
  }
  return records;
}

/** Listed records by key. If a cell has seen a newer version of one, or has one that is not listed, takes that. */
function* newest<R extends StoredRecord>(
  listed: Iterable<[string, R | Error]>,
  cells: Iterable<Pick<Cell<R>, 'key' | 'known'>>,
): Pieces<Map<string, R | Error>> {
  const records = new Map(listed);
  for (const { key, known } of cells) {
    const former = records.get(key);
    const isOlder = !former || former instanceof Error || (known && former.seq < known.seq);
    if (known && isOlder) records.set(key, known);
    yield 1;
  }
  return records;
}

function decodedOrFault<T>(decode: (name: string, text: string) => T, prefix: string) {
  // One record is one piece.
  // oxlint-disable-next-line require-yield
  return function* (key: string, text: string): Pieces<T | Error> {
    try {
      return decode(key.slice(prefix.length), text);
    } catch (error) {
      return error instanceof Error ? error : new Error(messageOf(error));
    }
  };
}

/** @returns the error of a record that can't be read; undefined for a record with an invalid name */
function known<R extends StoredRecord>(cellOf: () => Cell<R>, text: string): R | Error | undefined {
  return orFault(() => {
    const cell = cellOf();
    cell.observe(text);
    return cell.known;
  });
}

function orFault<T>(read: () => T): T | Error | undefined {
  try {
    return read();
  } catch (error) {
    if (isUnreadable(error)) return error;
    if (error instanceof InvalidOptionsError) return undefined;
    throw error;
  }
}
