import { hashOf } from '../../../core/decision/index.js';
import type { ExpiryEntry } from '../entry-schemas.js';
import { jobKey } from '../history-entry.js';
import { type JobRecord, runInShard, runKey, summedUp } from './job-record.js';
import type { Addition } from './job-shard.js';

/** Number of texts that contain all jobs. Few enough to read all of them with one call. */
export const SHARDS = 128;
/** Maximum number of jobs with changes. No application has as many methods, but names of jobs may come from arguments. */
const MOST_JOBS = 1000;
/** Number of changes of one job that are added up together: one by one would cost more than the run. */
const TOGETHER = 200;
/** Maximum number of other changes of a shard, while the store can't be asked. */
const MOST_MARKS = 1000;

/** Changes that was not sent yet. */
interface Changes {
  readonly jobs: Map<string, JobRecord[]>;
  readonly ended: Set<string>;
  readonly expiries: ExpiryEntry[];
}

/** The shard of a semaphore. All its jobs are in one, because an expired permit does not tell its job. */
export function shardOf(semaphore: string): number {
  return hashOf(semaphore) % SHARDS;
}

/**
 * Changes of this node that the store may not have yet, by shard. A sent addition stays as it is: it is repeated
 * with the same number until the store surely has it. Later changes wait for the next addition.
 */
export class PendingAdditions {
  readonly #changes = new Map<number, Changes>();
  /** The one that was sent last comes last. */
  readonly #sent = new Map<number, Addition>();
  /** Jobs with changes, the least recently noted first, with their shards. */
  readonly #noted = new Map<string, number>();
  /** Runs that go on and whose start was added. */
  readonly #started = new Set<string>();
  #seq = 0;
  #dropped = 0;

  constructor(private readonly writer: string) {}

  /**
   * The shards with changes, in the order to write them. Those whose last write failed come last, so that they don't keep
   * others from being written.
   */
  get shards(): number[] {
    return [...[...this.#changes.keys()].filter((shard) => !this.#sent.has(shard)), ...this.#sent.keys()];
  }

  /** Adds changes of one job. @param now cluster time in ms */
  add(record: JobRecord, now: number): void {
    const shard = shardOf(record.semaphore);
    const { jobs } = this.#of(shard);
    for (const start of record.starts) this.#started.add(runInShard(start.semaphore, runKey(start)));
    const key = jobKey(record);
    const known = jobs.get(key) ?? [];
    known.push(record);
    jobs.set(key, known.length < TOGETHER ? known : [addedUp(known, now)]);
    this.#noted.delete(key);
    this.#noted.set(key, shard);
    if (this.#noted.size > MOST_JOBS) this.#dropOldest();
  }

  /** Notes the end of a run. Does nothing if its start was not added: most runs are too short for one. */
  end(semaphore: string, run: string): void {
    const key = runInShard(semaphore, run);
    if (!this.#started.delete(key)) return;
    const { ended } = this.#of(shardOf(semaphore));
    if (ended.size < MOST_MARKS) ended.add(key);
  }

  expire(expiry: ExpiryEntry): void {
    const { expiries } = this.#of(shardOf(expiry.semaphore));
    if (expiries.length < MOST_MARKS) expiries.push(expiry);
  }

  /** The addition to send next for a shard. @param at cluster time in ms */
  take(shard: number, at: number, complete: (job: JobRecord) => JobRecord): Addition {
    const addition = this.#sent.get(shard) ?? this.#next(shard, at, complete);
    this.#sent.delete(shard);
    this.#sent.set(shard, addition);
    return addition;
  }

  /** Forgets the sent addition of a shard: the store has it, or can't take it. */
  done(shard: number): void {
    this.#sent.delete(shard);
  }

  /** Returns for how many jobs changes were dropped since the last call. */
  takeDropped(): number {
    const dropped = this.#dropped;
    this.#dropped = 0;
    return dropped;
  }

  #next(shard: number, at: number, complete: (job: JobRecord) => JobRecord): Addition {
    const changes = this.#of(shard);
    this.#changes.delete(shard);
    const jobs = new Map([...changes.jobs].map(([key, all]) => [key, complete(addedUp(all, at))]));
    for (const key of jobs.keys()) this.#noted.delete(key);
    return { ...changes, jobs, writer: this.writer, seq: ++this.#seq, at };
  }

  #of(shard: number): Changes {
    const changes = this.#changes.get(shard) ?? { jobs: new Map(), ended: new Set(), expiries: [] };
    this.#changes.set(shard, changes);
    return changes;
  }

  #dropOldest(): void {
    const [[key, shard]] = this.#noted as unknown as [[string, number]];
    this.#noted.delete(key);
    this.#changes.get(shard)?.jobs.delete(key);
    this.#dropped++;
  }
}

/** @param records in the order of the changes */
function addedUp(records: readonly JobRecord[], now: number): JobRecord {
  return records.length === 1 ? records[0]! : summedUp(records.toReversed(), now);
}
