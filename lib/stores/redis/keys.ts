import { hashOf } from '../../core/decision/index.js';
import { HINT_KEY } from '../../core/store/message-seals.js';

/**
 * Number of buckets of records. A constant of the format: a record's bucket is the hash of its key, modulo this number.
 * All keys of a bucket are in one slot of a Cluster, so that one script can change a record together with the index of
 * its bucket. The buckets spread the records over the servers.
 */
export const BUCKETS = 16;

/**
 * Names of the keys and channels of one store. What stands in braces decides the slot in a Cluster.
 *
 *     gatekeeper:{7}:index                   sorted set: keys of the records in bucket 7
 *     gatekeeper:{7}:record:semaphore:x      string: the text of a record
 *     gatekeeper:{7}:origin                  string: replication id of the server that wrote these records
 *     gatekeeper:hint-key                    string: the key of the hints' seals
 *     gatekeeper:journal:runs                stream
 *     gatekeeper:{tasks}:texts               hash: texts of tasks, by key
 *     gatekeeper:{tasks}:order               sorted set: texts of tasks, in their order, each with its key
 *     gatekeeper:{groups}:texts              hash
 *     gatekeeper:{queue:NAME}:hints          list
 *     gatekeeper:{queue:NAME}:pollers        sorted set: clients that wait for a hint
 */
export class Keys {
  readonly #buckets: readonly string[];

  /** Texts of tasks, and their order. */
  readonly tasks: readonly [texts: string, order: string];
  /** Texts of groups. */
  readonly groups: readonly [texts: string];
  readonly hintKey: string;

  constructor(private readonly prefix: string) {
    this.tasks = [`${prefix}{tasks}:texts`, `${prefix}{tasks}:order`];
    this.groups = [`${prefix}{groups}:texts`];
    this.hintKey = prefix + HINT_KEY;
    this.#buckets = Array.from({ length: BUCKETS }, (_, bucket) => `${prefix}{${bucket}}:`);
  }

  bucketOf(key: string): number {
    return hashOf(key) % BUCKETS;
  }

  index(bucket: number): string {
    return `${this.#buckets[bucket]}index`;
  }

  origin(bucket: number): string {
    return `${this.#buckets[bucket]}origin`;
  }

  record(key: string, bucket = this.bucketOf(key)): string {
    return `${this.#buckets[bucket]}record:${key}`;
  }

  journal(name: string): string {
    return `${this.prefix}journal:${name}`;
  }

  queue(name: string): QueueKeys {
    const queue = `${this.prefix}{queue:${name}}:`;
    return [`${queue}hints`, `${queue}pollers`];
  }
}

export type QueueKeys = readonly [hints: string, pollers: string];

/** Names of channels. They belong to the whole server, so they tell databases and key prefixes apart. */
export class Channels {
  readonly #base: string;
  /** Changes that concern all clients. */
  readonly changes: string;
  /** Prefix of the channels of single records, on which those that wait for them hear of changes. */
  readonly waiting: string;

  /** @param prefix of all keys, with the client's own prefix */
  constructor(prefix: string, database: number) {
    this.#base = `${prefix}${database}:`;
    this.changes = `${this.#base}changes`;
    this.waiting = `${this.#base}waiting:`;
  }

  /** The subscription of a client that waits for a record, or for all. */
  waitingFor(key: string | undefined): readonly [channel: string, isPrefix: boolean] {
    return key === undefined ? [this.waiting, true] : [this.waiting + key, false];
  }

  /** Messages of one client to itself. */
  echo(client: string): string {
    return `${this.#base}echo:${client}`;
  }

  /** Prefix of the channels on which clients learn of hints in queues that they poll. */
  get wake(): string {
    return `${this.#base}wake:`;
  }
}
