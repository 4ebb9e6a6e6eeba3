import type {
  Notify,
  OrderedCollection,
  RecordPage,
  RecordCollection,
  TextEntry,
  TextCollection,
  WriteOptions,
} from '../../core/store/driver.js';
import { GatheredWrites, type TextWrite, ownHintOf } from '../../core/store/gathered-writes.js';
import type { HintsAfterWrites } from '../../core/store/hints-after-writes.js';
import { type Calls, SHARED, textIn } from './calls.js';
import type { ChangeFeed } from './change-feed.js';
import type { Poller } from './hint-queues.js';
import { BUCKETS, type Keys } from './keys.js';
import {
  FIRST_PLACE,
  NOTIFIED,
  RANGE_OF_TEXTS,
  type Script,
  WRITE_TEXTS,
  WRITE_TEXTS_WITH_HINTS,
  hasOwnOrder,
} from './scripts.js';

/** Records of a bucket on the first page, which has all of a small listing. */
const FEW = 32;
/** Records on a page of one bucket. */
const MANY = 500;

interface RecordWrite extends TextWrite {
  readonly next: string;
  readonly bucket: number;
  readonly notify: Notify;
}

/**
 * Records, each a string under its own key. Their keys stand in one index per bucket, which the same script writes: so a
 * listing is complete, needs no walk through other programs' keys, and costs what it finds.
 */
export class Records implements RecordCollection {
  /** By bucket in a Cluster, where the keys of a script are in one slot, and while there is no session. Else there is one for all. */
  readonly #writes = new Map<number, GatheredWrites<RecordWrite, boolean>>();

  constructor(
    private readonly keys: Keys,
    private readonly calls: Calls,
    private readonly feed: ChangeFeed,
    private readonly script: Script,
  ) {}

  async read(key: string): Promise<string | undefined> {
    const record = this.keys.record(key);
    return textIn(await this.calls.read(record, ['get', record]));
  }

  compareAndSet(
    key: string,
    former: string | undefined,
    next: string,
    { notify = 'all' }: WriteOptions = {},
  ): Promise<boolean> {
    const bucket = this.keys.bucketOf(key);
    return this.#writesTo(bucket).write({ key, former, next, bucket, notify });
  }

  #writesTo(bucket: number): GatheredWrites<RecordWrite, boolean> {
    const place = this.calls.mayMixSlots ? 0 : bucket;
    let writes = this.#writes.get(place);
    if (!writes) this.#writes.set(place, (writes = new GatheredWrites((some) => this.#write(some), SHARED)));
    return writes;
  }

  /** @returns an error for each write that was refused by itself */
  async #write(writes: readonly RecordWrite[]): Promise<(boolean | Error)[]> {
    const { announcing } = this.feed;
    const { writer = '', changes = '', waiting = '' } = announcing ?? {};
    const places = new Map<number, string>();
    const ofBuckets: string[] = [];
    const ofRecords: string[] = [];
    const texts: string[] = [];
    let [flags, seals] = ['', ''];
    for (const { key, former, next, bucket, notify } of writes) {
      if (!places.has(bucket)) {
        places.set(bucket, String.fromCharCode(FIRST_PLACE.charCodeAt(0) + places.size));
        ofBuckets.push(this.keys.index(bucket), this.keys.origin(bucket));
      }
      flags +=
        places.get(bucket) + (former === undefined ? '0' : '1') + (announcing ? NOTIFIED[notify] : NOTIFIED.none);
      if (announcing && notify !== 'none') seals += announcing.sealOf(key, next);
      ofRecords.push(this.keys.record(key, bucket));
      texts.push(former ?? '', next);
    }
    const keys = [...ofBuckets, ...ofRecords] as [string, ...string[]];
    const answers = await this.calls.writeEach(this.script, keys, [flags, writer, changes, waiting, seals, ...texts]);
    return answers.map((answer) => (answer instanceof Error ? answer : Number(answer) === 1));
  }

  /**
   * The first page looks at all buckets at once. If one of them has more than a few keys, the pages go through the
   * buckets one after another. Keys are read in their order, so a page begins exactly after the one before, also after a
   * failover.
   *
   * @param after bucket and key before the page
   */
  async page(prefix: string, after?: string): Promise<RecordPage> {
    if (after === undefined) {
      const found = await Promise.all(
        Array.from({ length: BUCKETS }, (_, bucket) => this.#keysIn(bucket, prefix, FEW)),
      );
      if (found.every((keys) => keys.length < FEW)) return { texts: await this.readMany(found.flat()) };
    }
    const [bucket, last] = placeOf(after);
    const keys = await this.#keysIn(bucket, prefix, MANY, last);
    const next = keys.length < MANY ? placeAfter(bucket + 1) : placeAfter(bucket, keys.at(-1));
    return { texts: await this.readMany(keys), ...(next !== undefined && { next }) };
  }

  async readMany(keys: readonly string[]): Promise<Map<string, string>> {
    const buckets = new Map<number, string[]>();
    for (const key of keys) {
      const bucket = this.keys.bucketOf(key);
      buckets.set(bucket, [...(buckets.get(bucket) ?? []), key]);
    }
    const read = await Promise.all([...buckets].map(([bucket, some]) => this.#readIn(bucket, some)));
    const texts = new Map(read.flat());
    return new Map(keys.flatMap((key) => (texts.has(key) ? [[key, texts.get(key)!] as const] : [])));
  }

  async #readIn(bucket: number, keys: readonly string[]): Promise<[string, string][]> {
    const records = keys.map((key) => this.keys.record(key, bucket));
    return textsIn(keys, await this.calls.read(records[0]!, ['mget', ...records]));
  }

  async #keysIn(bucket: number, prefix: string, most: number, after?: string): Promise<string[]> {
    const index = this.keys.index(bucket);
    const from = after === undefined ? `[${prefix}` : `(${after}`;
    // No byte of UTF-8 is 255, so all keys with the prefix come before this.
    const to = Buffer.concat([Buffer.from(`(${prefix}`), Buffer.of(255)]);
    const keys = await this.calls.read(index, ['zrangebylex', index, from, to, 'LIMIT', '0', String(most)]);
    return (keys as string[]).map(String);
  }
}

function placeOf(after: string | undefined): [bucket: number, key?: string] {
  if (after === undefined) return [0];
  const blank = after.indexOf(' ');
  return blank < 0 ? [Number(after)] : [Number(after.slice(0, blank)), after.slice(blank + 1)];
}

function placeAfter(bucket: number, key?: string): string | undefined {
  if (bucket === BUCKETS) return undefined;
  return key === undefined ? String(bucket) : `${bucket} ${key}`;
}

/** Texts in a hash: the groups. A script compares and writes in one step. In a Cluster all are in one slot. */
export class HashTexts implements TextCollection {
  readonly #writes = new GatheredWrites((writes: readonly TextWrite[]) => this.send(writes), SHARED);

  /** @param keys the hash, and the sorted set that keeps the order of its texts, if they have one */
  constructor(
    protected readonly keys: readonly [hash: string, ...order: string[]],
    protected readonly calls: Calls,
  ) {}

  async read(key: string): Promise<string | undefined> {
    const [hash] = this.keys;
    return textIn(await this.calls.read(hash, ['hget', hash, key]));
  }

  async readMany(keys: readonly string[]): Promise<Map<string, string>> {
    if (keys.length === 0) return new Map();
    const [hash] = this.keys;
    return new Map(textsIn(keys, await this.calls.read(hash, ['hmget', hash, ...keys])));
  }

  compareAndSet(
    key: string,
    former: string | undefined,
    next: string | undefined,
    { hint }: WriteOptions = {},
  ): Promise<boolean> {
    return this.#writes.write({ key, former, next, hint });
  }

  protected async send(writes: readonly TextWrite[]): Promise<boolean[]> {
    return areWritten(await this.calls.write(WRITE_TEXTS, this.keys, writes.flatMap(argumentsOf)));
  }
}

/**
 * The tasks: texts in a hash, with their order in a sorted set. In a Cluster all are in one slot, because one script changes the hash
 * and the order.
 *
 * The script that writes a task adds its hint, too. Not in a Cluster: each queue is in a slot of its own there, so that not all polls
 * go to the server that has the tasks. So the hint follows its write.
 */
export class RedisTasks extends HashTexts implements OrderedCollection {
  constructor(
    private readonly names: Keys,
    calls: Calls,
    private readonly poller: Poller,
    private readonly afterWrites: HintsAfterWrites,
  ) {
    super(names.tasks, calls);
  }

  override compareAndSet(
    key: string,
    former: string | undefined,
    next: string | undefined,
    { hint }: WriteOptions = {},
  ): Promise<boolean> {
    if (!hint || this.calls.mayMixSlots) return super.compareAndSet(key, former, next, { hint });
    return this.afterWrites.follow(super.compareAndSet(key, former, next), hint);
  }

  protected override async send(writes: readonly TextWrite[]): Promise<boolean[]> {
    const queues = [...new Set(writes.flatMap(({ hint }) => (hint ? [hint.queue] : [])))];
    if (queues.length === 0) return super.send(writes);
    const wakes = queues.map((queue) => this.poller.wakeArguments(queue));
    const args = writes.flatMap((write) => {
      const own = ownHintOf(write);
      const [key, expected, next, flags] = argumentsOf(write);
      const queue = write.hint ? queues.indexOf(write.hint.queue) + 1 : 0;
      return [key, expected, next, `${flags}${own === undefined ? 0 : 1}`, String(queue), own ?? ''];
    });
    const [, channels] = wakes[0]!;
    const messages = wakes.map(([message]) => message);
    const keys = [...this.keys, ...queues.flatMap((queue) => this.names.queue(queue))] as const;
    return areWritten(await this.calls.write(WRITE_TEXTS_WITH_HINTS, keys, [channels, ...messages, ...args]));
  }

  async range(from: string, to: string, limit: number): Promise<TextEntry[]> {
    const answer = await this.calls.readBy(RANGE_OF_TEXTS, this.keys, [from, to, String(Math.max(0, limit))]);
    const flat = answer as string[];
    return Array.from({ length: flat.length / 2 }, (_, index) => ({
      key: String(flat[2 * index]),
      text: String(flat[2 * index + 1]),
    }));
  }
}

function areWritten(answers: unknown): boolean[] {
  return (answers as unknown[]).map((answer) => Number(answer) === 1);
}

/** See {@link WRITE_TEXTS}. */
function argumentsOf({ key, former, next }: TextWrite): [key: string, expected: string, next: string, flags: string] {
  const [expected, text] = [former ?? '', next ?? ''];
  const flags = [former !== undefined, next !== undefined, hasOwnOrder(expected) || hasOwnOrder(text)];
  return [key, expected, text, flags.map(Number).join('')];
}

/** The texts in an answer that has one, or null, for each key. */
function textsIn(keys: readonly string[], answer: unknown): [key: string, text: string][] {
  return (answer as unknown[]).flatMap((text, index) => (text === null ? [] : [[keys[index]!, String(text)]]));
}
