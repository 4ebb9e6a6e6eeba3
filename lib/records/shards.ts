import {
  type Claim,
  EMPTY_SHARD,
  InvalidOptionsError,
  ROOT_KEY,
  SHARDS,
  SHARD_PREFIX,
  type SemaphoreRecord,
  type ShardRecord,
  claim,
  nameIn,
  reservedNameFault,
  shardOf,
  show,
} from '../decision/index.js';
import { forEachLimit } from '../async/for-each-limit.js';
import type { Context } from '../context/context.js';
import { answerWithin } from '../stores/answer-within.js';
import { isUnreadable } from './known-record.js';
import { LIST_FACTOR, readRecord } from './list-records.js';
import { type ShardClient, shardClient } from './shard-records.js';
import type { SemaphoreChanged } from './semaphore-records.js';

interface ShardsOptions {
  /** The store is this process's own: a shard that it lacks never existed. */
  readonly isOwn: boolean;
  /** How many there are: a constant of the format, fewer only in simulations. */
  readonly shards?: number;
  /** Whether definitions were archived, which may pause names: none is granted before they are loaded. */
  readonly awaitsArchive: boolean;
  /** Notifies the semaphore of a name, if this node uses it. */
  readonly nameChanged: (name: string, change: SemaphoreChanged) => void;
}

/** All shards of the names on demand, as this node knows them. */
export class Shards {
  readonly #clients = new Map<string, ShardClient>();
  readonly #count: number;
  /** The names of all shards. */
  readonly keys: readonly string[];
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

  /** Whether this node has read all shards, and what was archived is there: only then it grants names on demand. */
  get isReady(): boolean {
    return this.isOwn || (this.#isRead && (this.#isLoaded || !this.options.awaitsArchive));
  }

  /** Whether this node has read all shards: from then on one that is missing was lost. */
  get isRead(): boolean {
    return this.#isRead;
  }

  markRead(): void {
    this.#isRead = true;
  }

  /** Notes that the archived definitions are in the shards. */
  markLoaded(): void {
    this.#isLoaded = true;
  }

  /** The texts of all shards by their keys, as they stand in the store now. @throws StoreUnavailableError */
  texts(): Promise<Map<string, string>> {
    const { store, timers, timing } = this.context;
    const keys = this.keys.map((shard) => SHARD_PREFIX + shard);
    return answerWithin(timers, LIST_FACTOR * timing.callTimeout, 'read the shards', () => store.readMany(keys));
  }

  /** Asks the store for one text. @throws its error, if it is why the shards are not read */
  async expectStore(): Promise<void> {
    await readRecord(this.context, ROOT_KEY);
  }

  /** Forgets what was read: it may be of another birth. */
  forget(): void {
    this.#clients.clear();
  }

  /** Where only this process writes, a shard begins with its first report: another node of the process made it. */
  find(shard: string): ShardClient | undefined {
    return this.#clients.get(shard) ?? (this.isOwn && this.keys.includes(shard) ? this.of(shard) : undefined);
  }

  all(): Iterable<ShardClient> {
    return this.#clients.values();
  }

  /** @throws InvalidOptionsError for a shard that the format does not have */
  of(shard: string): ShardClient {
    const known = this.#clients.get(shard);
    if (known) return known;
    if (!this.keys.includes(shard)) {
      throw new InvalidOptionsError('a shard', [`${show(shard)} is none of 0 to ${this.#count - 1}`]);
    }
    const client = shardClient(shard, this.context, this.options.nameChanged);
    this.#clients.set(shard, client);
    return client;
  }

  /** The name of the shard that a semaphore's name belongs to. */
  keyOf(name: string): string {
    return shardOf(name, this.#count);
  }

  /** The shard of a name. */
  ofName(name: string): ShardClient {
    return this.of(this.keyOf(name));
  }

  /** A shard that is missing is never taken for an empty one, unless no other process can have written it. */
  orEmpty(shard: ShardRecord | undefined): ShardRecord | undefined {
    return shard ?? (this.isOwn ? EMPTY_SHARD : undefined);
  }

  /** The names that stand in the shards, with their records, as this node last knew them. */
  *names(): Generator<[string, SemaphoreRecord]> {
    for (const { known } of this.#clients.values()) {
      for (const name of known?.names.keys() ?? []) yield [name, nameIn(known!, name)];
    }
  }

  /** The same of the names that an operator defined. */
  *definedNames(): Generator<[string, SemaphoreRecord]> {
    for (const [name, record] of this.names()) if (this.isDefined(name)) yield [name, record];
  }

  /** Whether a name has a claim, as this node last knew it. */
  isClaimed(name: string): boolean {
    return this.#knownOf(name)?.claims.has(name) ?? false;
  }

  /** Whether the claim of a record's name is missing. The package's own names are never on demand and need none. */
  lacksClaim(name: string): boolean {
    return reservedNameFault(name) === undefined && !this.isClaimed(name);
  }

  /** Whether an operator's definition of a name stands in its shard, as this node last knew it. */
  isDefined(name: string): boolean {
    return this.#knownOf(name)?.names.get(name)?.definition !== undefined;
  }

  /** Whether an operator's definition, a permit or a grace keeps a name from being claimed, as this node last knew it. */
  keepsUnclaimed(name: string): boolean {
    const known = this.#knownOf(name);
    return known !== undefined && (known.names.has(name) || known.grace !== undefined);
  }

  /** Whether a name has neither an entry nor a claim in its shard, as this node last knew it. */
  lacks(name: string): boolean {
    const known = this.#knownOf(name);
    return known !== undefined && !known.names.has(name) && !known.claims.has(name);
  }

  /** The revision that a name had at most, as this node knows it. */
  revisionOf(name: string): number | undefined {
    const known = this.#knownOf(name);
    return known && (known.names.get(name)?.revision ?? known.revision);
  }

  /**
   * Notes claims, one write for each shard. A shard that can't be read keeps no other from noting them.
   *
   * @throws when the store can't be asked
   */
  async claim(claims: readonly Claim[]): Promise<void> {
    const byShard = new Map<string, Claim[]>();
    for (const each of claims) {
      const shard = this.keyOf(each.name);
      byShard.set(shard, [...(byShard.get(shard) ?? []), each]);
    }
    await forEachLimit([...byShard], async ([key, due]) => {
      const noting = this.of(key).transact<void>((record, view, nonce) => {
        const shard = this.orEmpty(record);
        const next = shard && claim(shard, due, view, nonce);
        return next ? { write: next, done: () => undefined } : { result: undefined };
      });
      // Its client has reported it.
      await noting.catch((error: unknown) => {
        if (!isUnreadable(error)) throw error;
      });
    });
  }

  /** The origin of the record that has claimed a name, as this node last knew it. */
  claimOf(name: string): string | undefined {
    return this.#knownOf(name)?.claims.get(name);
  }

  #knownOf(name: string): ShardRecord | undefined {
    return this.#clients.get(this.keyOf(name))?.known;
  }
}
