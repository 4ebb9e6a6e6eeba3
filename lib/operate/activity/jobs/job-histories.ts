import type { CancelTimer } from '../../../core/async/node-clock.js';
import { inSlices } from '../../../core/async/slices.js';
import { type Context, timeOf } from '../../../core/context/context.js';
import { UnreadableEntries } from '../../../core/context/unreadable-entries.js';
import { DecodeCache } from '../../../core/cell/decode-cache.js';
import { TextCells, type TextStep } from '../../../core/cell/text-cells.js';
import { LIST_FACTOR } from '../../../core/store/store.js';
import type { StoredRunEntry } from '../entry-schemas.js';
import { type JobRecord, LONGEST_STACK, ofRun, ofStart, runKey } from './job-record.js';
import { type Addition, contains, withAddition } from './job-shard.js';
import { type DecodedShard, decodeJobShard, encodeJobShard } from './job-shard.codec.js';
import { PendingAdditions, SHARDS, shardOf } from './pending-additions.js';
import type { JobInfo } from '../node-info.js';

export const KEY_PREFIX = 'history:';
/** ms for which runs are collected before they are written together. */
const GATHERING = 500;
/** ms between two writes of a shard whose jobs run all the time. */
const PACE = 5000;
/** Writes of a shard that may follow each other faster, so that people soon see the end of a run, and of the next one. */
const BURST = 5;
/** ms after a failure until the next try. */
const PATIENCE = 10_000;
/** ms for which a reading counts as current: at least, and at most if the texts are long. */
const FRESH = { least: 1000, most: 10_000 };
/** Characters of texts that overviews read per ms: they are read each second while they are short. */
const RATE = 256;

/** The schedule of a job on this node: its expression, and the last time at which it was due. */
export interface JobTimes {
  readonly schedule: string;
  /** Cluster time in ms. */
  readonly due?: number | undefined;
}

type TimesOf = (job: JobRecord) => JobTimes | undefined;

/**
 * A bounded past of each job, which runs of other jobs can't push out.
 *
 * ```
 *   a run ends ─▶ changes in memory ──(0.5 s later, ──▶ addition 17 of this node ─▶ compare-and-set of the job's shard
 *                                      at most every       ▲            no answer │
 *                                      5 s in the long     └── again, unless the shard has "this node: 17"
 *                                      run)
 * ```
 *
 * The store is asked only while there are changes, or when a person reads. A crash loses the changes of the last seconds.
 */
export class JobHistories {
  readonly #pending: PendingAdditions;
  readonly #texts: TextCells;
  readonly #decoded = new DecodeCache((_key, text) => decodeJobShard(text));
  readonly #leftOut: UnreadableEntries;
  #known: readonly JobRecord[] = [];
  #readAt?: number;
  /** Characters of all texts at the last reading. */
  #length = 0;
  /** By shard: monotonic ms until which its writes last, if they come at the usual pace. */
  readonly #paidUntil = new Map<number, number>();
  #reading?: Promise<readonly JobRecord[]> | undefined;
  #cancelTimer?: CancelTimer | undefined;
  #flushing?: Promise<void> | undefined;
  #isClosed = false;

  /** @param timesNow looks at the schedules of this node, and returns that of a job, if it has one */
  constructor(
    private readonly context: Context,
    private readonly timesNow: () => TimesOf,
    /** Version of the application, if it has one. */
    private readonly version?: string,
  ) {
    this.#pending = new PendingAdditions(context.node.instance);
    this.#texts = new TextCells(context.store.records, context, { notify: 'none' });
    this.#leftOut = new UnreadableEntries('read the history of jobs', context);
  }

  /** Number of entries that the latest reading left out because they can't be read. */
  get unreadable(): number {
    return this.#leftOut.count;
  }

  /** Notes what this node learned of a run. @param stack of the error with which the run failed */
  note(entry: StoredRunEntry, stack?: string): void {
    if (entry.kind === 'skip') return;
    const now = timeOf(this.context);
    if (entry.kind === 'expiry') this.#pending.expire(entry);
    else if (entry.kind === 'start') this.#pending.add(ofStart(entry), now);
    else {
      this.#pending.add(ofRun(entry, stack?.slice(0, LONGEST_STACK)), now);
      if (entry.run !== undefined) this.#pending.end(entry.semaphore, runKey(entry));
    }
    this.#flushIn(GATHERING);
  }

  /**
   * Reads the records of all jobs. Concurrent calls share one reading.
   *
   * @param age ms that the answer may be old
   * @throws StoreUnavailableError
   */
  async all(age = FRESH.least): Promise<readonly JobRecord[]> {
    if (this.context.nodeClock.monotonic() - (this.#readAt ?? -Infinity) < age) return this.#known;
    this.#reading ??= this.#read().finally(() => (this.#reading = undefined));
    return this.#reading;
  }

  /** As {@link all}, for overviews, which are read often: the longer the texts are, the older the answer may be. */
  recent(): Promise<readonly JobRecord[]> {
    return this.all(Math.min(FRESH.most, Math.max(FRESH.least, this.#length / RATE)));
  }

  /** When the last answer of {@link all} was read: monotonic ms. Absent before the first one. */
  get readAt(): number | undefined {
    return this.#readAt;
  }

  /** Reads the records of the jobs of some semaphores: their shards, together. @throws StoreUnavailableError */
  async of(semaphores: readonly string[]): Promise<readonly JobRecord[]> {
    const isAsked = new Set(semaphores);
    const shards = new Set(semaphores.map(shardOf));
    const texts = await this.#texts.readMany([...shards].map((shard) => KEY_PREFIX + shard));
    const records = recordsOf(await inSlices(this.#decoded.some(texts), this.context.nodeClock));
    return records.filter(({ semaphore }) => isAsked.has(semaphore));
  }

  /** Tries once to write the remaining changes, and reports a failure. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cancelTimer?.();
    await this.#flushing;
    // An addition without an answer is repeated, and may be followed by changes.
    for (let rounds = 0; rounds < 2 && this.#pending.shards.length > 0; rounds++) if (!(await this.#flush())) return;
  }

  async #read(): Promise<readonly JobRecord[]> {
    const { store, timing, nodeClock } = this.context;
    const begun = nodeClock.monotonic();
    const texts = await store.records.readMany(keys(), { timeout: LIST_FACTOR * timing.callTimeout });
    const decoded = await inSlices(this.#decoded.all(texts), nodeClock);
    this.#leftOut.note([...decoded.values()].flatMap(({ faults }) => faults));
    this.#length = [...texts.values()].reduce((sum, { length }) => sum + length, 0);
    this.#readAt = begun;
    this.#known = recordsOf(decoded);
    return this.#known;
  }

  #flushIn(delay: number): void {
    if (this.#isClosed || this.#flushing) return;
    this.#cancelTimer ??= this.context.nodeClock.schedule(() => {
      this.#cancelTimer = undefined;
      this.#flushing = this.#flush().then((isDone) => {
        this.#flushing = undefined;
        if (this.#pending.shards.length > 0) this.#flushIn(isDone ? GATHERING : PATIENCE);
      });
    }, delay);
  }

  /** One shard after another, so that many jobs never keep the store busy. @returns false if the store failed */
  async #flush(): Promise<boolean> {
    try {
      const due = this.#pending.shards.filter((shard) => this.#isDue(shard));
      const timesOf = due.length > 0 ? this.timesNow() : () => undefined;
      for (const shard of due) await this.#write(shard, timesOf);
    } catch (error) {
      if (this.#isClosed) this.#report(error);
      return false;
    }
    this.#reportDropped();
    return true;
  }

  async #write(shard: number, timesOf: TimesOf): Promise<void> {
    const addition = this.#pending.take(shard, Math.round(timeOf(this.context)), (job) =>
      this.#complete(job, timesOf(job)),
    );
    await this.#texts.change<void>(KEY_PREFIX + shard, (text) => this.#withAddition(text, addition));
    this.#pending.done(shard);
    const now = this.context.nodeClock.monotonic();
    this.#paidUntil.set(shard, Math.max(now, this.#paidUntil.get(shard) ?? now) + PACE);
  }

  /** The runs of a busy job are written together: a write for each would cost more than the run. */
  #isDue(shard: number): boolean {
    const ahead = (this.#paidUntil.get(shard) ?? -Infinity) - this.context.nodeClock.monotonic();
    return this.#isClosed || ahead <= (BURST - 1) * PACE;
  }

  async #withAddition(text: string | undefined, addition: Addition): Promise<TextStep<void>> {
    const { shard, faults, isNewer } = await inSlices(decodeJobShard(text), this.context.nodeClock);
    // Reported now, because the write removes the invalid jobs.
    if (faults.length > 0) this.#leftOut.note(faults);
    // The addition may have been written before, by a write whose answer was lost.
    if (isNewer || contains(shard, addition)) return { result: undefined };
    return { write: encodeJobShard(withAddition(shard, addition)), done: () => undefined };
  }

  #complete(job: JobRecord, times: JobTimes | undefined): JobRecord {
    const { version } = this;
    return {
      ...job,
      ...(times && { schedule: times.schedule, due: times.due }),
      ...(version !== undefined && { versions: [{ version, since: job.usedAt }] }),
    };
  }

  #report(error: unknown): void {
    this.context.events.next({ type: 'problem', action: 'write the history of jobs', error });
  }

  #reportDropped(): void {
    const dropped = this.#pending.takeDropped();
    if (dropped > 0) this.#report(new Error(`runs of ${dropped} jobs were dropped: there were too many names of jobs`));
  }
}

function recordsOf(decoded: ReadonlyMap<string, DecodedShard>): JobRecord[] {
  return [...decoded.values()].flatMap(({ shard }) => [...shard.jobs.values()]);
}

function keys(): string[] {
  return Array.from({ length: SHARDS }, (_, shard) => KEY_PREFIX + shard);
}

/**
 * The schedules of the jobs of this node.
 *
 * @returns undefined for a job for which this node has no schedule
 */
export function timesOf(infos: readonly JobInfo[], context: Context): (job: JobRecord) => JobTimes | undefined {
  const offset = timeOf(context) - context.nodeClock.wall();
  return ({ semaphore, job }) => {
    const info = infos.find((each) => each.job === job && (each.semaphore ?? semaphore) === semaphore);
    if (!info?.schedule) return undefined;
    const due = info.schedule.recent?.at(-1);
    return { schedule: info.schedule.expression, ...(due !== undefined && { due: Math.round(due + offset) }) };
  };
}
