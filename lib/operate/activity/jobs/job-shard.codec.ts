import { z } from 'zod';
import type { Pieces } from '../../../core/async/slices.js';
import {
  faultsOf,
  show,
  storedCount,
  storedList,
  storedText,
  storedTime,
  withoutDoubt,
} from '../../../core/decision/index.js';
import { TERM_ENDS } from '../../../core/context/events.js';
import type { NodeIdentity } from '../../../core/context/node-identity.js';
import { storyShape, type StartEntry } from '../entry-schemas.js';
import type { RunEntry } from '../history-answers.js';
import { jobKey } from '../history-entry.js';
import { type Durations, MOST_CLASSES } from './durations.js';
import type { FailedRun } from './job-answers.js';
import { type JobRecord, LONGEST_STACK } from './job-record.js';
import { DAY } from './run-periods.js';
import { EMPTY_SHARD, type JobShard, type WriterMark } from './job-shard.js';

/** Version of the format. A newer version is left as it is. */
const VERSION = 1;
/**
 * Bytes of the jobs of one shard, and number of jobs, with their whole past. Of the jobs that were not used for the longest time
 * less is kept: see {@link encodeJobShard}.
 */
export const MOST_BYTES = 256 * 1024;
export const MOST_JOBS = 64;
/** Bytes of the jobs of which only the last run is kept. */
const MOST_SHORT_BYTES = 64 * 1024;
/**
 * ms by which a job with a schedule counts as used later: thousands of names from arguments must not push out a monthly
 * job, and one that was removed is still dropped some day.
 */
const RARE = 35 * DAY;
/** Characters; more than any version with this format writes. */
const LONGEST_SHARD = 1024 * 1024;
/** Maximum length of a list in a record: more than any node writes. */
const MOST = 500;

const nodeSchema = z.tuple([storedText, storedText, storedText]);
/** Nodes stand in a table of their job, because most of its runs are on few nodes. */
const run = {
  at: storedTime,
  on: storedCount,
  token: storedCount.optional(),
  slot: storedCount.optional(),
  run: storedCount.optional(),
  until: storedTime.optional(),
};
const ended = {
  ...run,
  ...storyShape,
  took: storedTime.optional(),
  outcome: z.enum(['ok', 'failed', 'lost', 'crashed']),
  ended: z.enum(TERM_ENDS).optional(),
};
const runSchema = z.object(ended);
const failureSchema = z.object({
  ...ended,
  message: storedText.optional(),
  stack: z
    .string()
    .max(LONGEST_STACK + 1)
    .optional(),
});
const startSchema = z.object({
  ...run,
  by: storyShape.by,
  missed: storyShape.missed,
  loss: storyShape.loss,
  run: storedCount,
});
const periodSchema = z.object({
  at: storedTime,
  ok: storedCount,
  failed: storedCount,
  lost: storedCount,
  crashed: storedCount,
  took: z.custom<Durations>(isDurations, 'is no histogram'),
});
const jobSchema = z.object({
  semaphore: storedText,
  job: storedText,
  usedAt: storedTime,
  nodes: storedList(nodeSchema, MOST),
  runs: storedList(runSchema, MOST),
  failures: storedList(failureSchema, MOST),
  starts: storedList(startSchema, MOST),
  hours: storedList(periodSchema, MOST),
  days: storedList(periodSchema, MOST),
  lastOk: storedTime.optional(),
  due: storedTime.optional(),
  schedule: storedText.optional(),
  versions: storedList(z.object({ version: storedText, since: storedTime }), MOST).optional(),
});
const shardSchema = z.object({
  v: storedCount,
  writers: storedList(z.tuple([storedText, storedCount, storedTime]), 10_000),
  jobs: z.array(z.unknown()),
});

/** By hand, because a record has thousands of these numbers. */
function isDurations(value: unknown): value is Durations {
  if (!Array.isArray(value) || value.length > MOST_CLASSES) return false;
  return value.every(
    (pair) =>
      Array.isArray(pair) && pair.length === 2 && isCount(pair[0]) && isCount(pair[1]) && pair[0] < MOST_CLASSES,
  );
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

type Encoded<Entry> = Omit<Entry, 'semaphore' | 'job' | 'node' | 'kind'> & { readonly on: number };

/** The readable jobs of one text, and the faults of the others, for people. */
export interface DecodedShard {
  readonly shard: JobShard;
  readonly faults: readonly string[];
  /** Whether a newer version wrote it. Then it must stay as it is. */
  readonly isNewer: boolean;
}

/** Decodes one text, and yields after each job. Leaves out invalid jobs. */
export function* decodeJobShard(text: string | undefined): Pieces<DecodedShard> {
  if (text === undefined) return { shard: EMPTY_SHARD, faults: [], isNewer: false };
  const read = parsed(text);
  if (typeof read === 'string') return { shard: EMPTY_SHARD, faults: [`${show(text)}: ${read}`], isNewer: false };
  const isNewer = read.v > VERSION;
  if (isNewer) return { shard: EMPTY_SHARD, faults: [`a history of jobs has the format ${read.v}`], isNewer };
  const jobs = new Map<string, JobRecord>();
  const faults: string[] = [];
  for (const each of read.jobs) {
    const job = decodeJob(each);
    if (typeof job === 'string') faults.push(`the history of a job: ${job}`);
    else jobs.set(jobKey(job), job);
    yield 1;
  }
  const writers = read.writers.map(([writer, seq, at]): [string, WriterMark] => [writer, { seq, at }]);
  return { shard: { jobs, writers: new Map(writers) }, faults, isNewer };
}

/**
 * Encodes a shard. Of the jobs that were not used for the longest time, as many as the limits require, it keeps only the last run
 * and the schedule: without them, a job that runs once a month beside busy ones would seem not to have run. Those that have no
 * schedule, or have not run for 35 days, or are too many even so, are dropped.
 */
export function encodeJobShard({ jobs, writers }: JobShard): string {
  const texts: string[] = [];
  let bytes = 0;
  let shortBytes = 0;
  const newest = [...jobs.values()].reduce((time, { usedAt }) => Math.max(time, usedAt), 0);
  for (const job of [...jobs.values()].toSorted((one, other) => keptFor(other) - keptFor(one))) {
    const text = texts.length < MOST_JOBS && bytes <= MOST_BYTES ? encodeJob(job) : '';
    bytes += Buffer.byteLength(text);
    if (text !== '' && bytes <= MOST_BYTES) texts.push(text);
    else if (job.schedule !== undefined && keptFor(job) > newest) {
      const short = encodeJob(withLastRun(job));
      shortBytes += Buffer.byteLength(short);
      if (shortBytes > MOST_SHORT_BYTES) break;
      texts.push(short);
    }
  }
  const marks = [...writers].map(([writer, { seq, at }]) => [writer, seq, at]);
  return `{"v":${VERSION},"writers":${JSON.stringify(marks)},"jobs":[${texts.join(',')}]}`;
}

function withLastRun({ runs, starts, ...job }: JobRecord): JobRecord {
  return { ...job, runs: runs.slice(0, 1), starts: starts.slice(0, 1), failures: [], hours: [], days: [] };
}

/** Cluster time in ms by which the jobs of a full shard are compared. */
function keptFor({ usedAt, schedule }: JobRecord): number {
  return usedAt + (schedule === undefined ? 0 : RARE);
}

/** @returns the parts before their check, or the fault of the whole text */
function parsed(text: string): z.output<typeof shardSchema> | string {
  if (text.length > LONGEST_SHARD) return `it is longer than ${LONGEST_SHARD} characters`;
  try {
    const { data, error } = shardSchema.safeParse(JSON.parse(withoutDoubt(text)));
    return data ?? faultsOf(error!).join('; ');
  } catch (error) {
    return `it is not JSON (${(error as Error).message})`;
  }
}

/** @returns the fault of an invalid job */
function decodeJob(value: unknown): JobRecord | string {
  const { data, error } = jobSchema.safeParse(value);
  if (error) return faultsOf(error).join('; ');
  const { nodes: table, runs, failures, starts, ...rest } = data;
  const nodes = table.map(([group, acquirer, instance]): NodeIdentity => ({ group, acquirer, instance }));
  const { semaphore, job } = rest;
  // A number without a node is another program's; such a run is left out.
  const read = <E extends { on: number }>(all: readonly E[]) =>
    all.flatMap(({ on, ...each }) => (nodes[on] ? [{ ...each, semaphore, job, node: nodes[on] }] : []));
  return {
    ...rest,
    runs: read(runs).map((each): RunEntry => ({ ...each, kind: 'run' })),
    failures: read(failures).map((each): FailedRun => ({ ...each, kind: 'run' })),
    starts: read(starts).map((each): StartEntry => ({ ...each, kind: 'start' })),
  };
}

function encodeJob({ runs, failures, starts, ...rest }: JobRecord): string {
  const table = new Map<string, readonly [index: number, node: NodeIdentity]>();
  const indexOf = (node: NodeIdentity) => {
    const key = JSON.stringify([node.group, node.acquirer, node.instance]);
    const known = table.get(key) ?? ([table.size, node] as const);
    table.set(key, known);
    return known[0];
  };
  const encoded = <E extends RunEntry | StartEntry>({ semaphore: _s, job: _j, kind: _k, node, ...each }: E) =>
    ({ ...each, on: indexOf(node) }) as unknown as Encoded<E>;
  const entries = { runs: runs.map(encoded), failures: failures.map(encoded), starts: starts.map(encoded) };
  const nodes = [...table.values()].map(([, { group, acquirer, instance }]) => [group, acquirer, instance]);
  return JSON.stringify({ ...rest, nodes, ...entries });
}
