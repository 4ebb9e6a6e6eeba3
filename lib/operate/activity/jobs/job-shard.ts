import type { ExpiryEntry } from '../entry-schemas.js';
import { type JobRecord, combined, withExpiry, withoutStarts } from './job-record.js';

/** The last addition of a node that a shard contains. */
export interface WriterMark {
  /** Number of the addition. The numbers of a node grow. */
  readonly seq: number;
  /** Cluster time in ms. */
  readonly at: number;
}

/** The records of some jobs, in one text of the store. */
export interface JobShard {
  /** By `jobKey`. */
  readonly jobs: ReadonlyMap<string, JobRecord>;
  /** By the node's instance. */
  readonly writers: ReadonlyMap<string, WriterMark>;
}

/** Changes of one node for one shard. Written again and again with the same number until it is surely in the store. */
export interface Addition extends WriterMark {
  /** Instance of the node. */
  readonly writer: string;
  /** By `jobKey`. */
  readonly jobs: ReadonlyMap<string, JobRecord>;
  /** Runs of 2 s or more that have ended, by `runInShard`. */
  readonly ended: ReadonlySet<string>;
  /** Permits that this node found expired. */
  readonly expiries: readonly ExpiryEntry[];
}

/** More nodes than write to one shard within an hour. */
const MOST_WRITERS = 200;
/** ms. An addition whose answer was lost is repeated much sooner. */
const MARK_KEPT = 3_600_000;

export const EMPTY_SHARD: JobShard = { jobs: new Map(), writers: new Map() };

/** Whether a shard contains an addition. A writer without an answer finds out by this, so no run is counted twice. */
export function contains({ writers }: JobShard, { writer, seq }: Pick<Addition, 'writer' | 'seq'>): boolean {
  return (writers.get(writer)?.seq ?? 0) >= seq;
}

/** Adds the changes of a node to a shard. The shard is unchanged if it contains them. Pure. */
export function withAddition(shard: JobShard, addition: Addition): JobShard {
  if (contains(shard, addition)) return shard;
  const { writer, seq, at, jobs: changes, ended, expiries } = addition;
  const jobs = new Map(shard.jobs);
  for (const [key, each] of changes) {
    const known = jobs.get(key);
    jobs.set(key, withoutStarts(known ? combined(known, each, at) : each, ended));
  }
  for (const expiry of expiries) expire(jobs, expiry, at);
  return { jobs, writers: recent(new Map(shard.writers).set(writer, { seq, at }), at) };
}

/** The node that drops a permit knows its semaphore, but not the job that ran under it. */
function expire(jobs: Map<string, JobRecord>, expiry: ExpiryEntry, now: number): void {
  for (const [key, record] of jobs)
    if (record.semaphore === expiry.semaphore) jobs.set(key, withExpiry(record, expiry, now));
}

function recent(writers: ReadonlyMap<string, WriterMark>, now: number): ReadonlyMap<string, WriterMark> {
  const kept = [...writers].filter(([, { at }]) => at > now - MARK_KEPT);
  return new Map(kept.toSorted(([, one], [, other]) => other.at - one.at).slice(0, MOST_WRITERS));
}
