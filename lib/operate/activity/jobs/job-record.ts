import type { RunEntry } from '../history-answers.js';
import type { EndedRun, ExpiryEntry, StartEntry } from '../entry-schemas.js';
import { newerFirst, withoutEnd } from '../history-entry.js';
import { DAYS, HOURS, type RunPeriod, addedPeriods, periodOf, withoutCrash } from './run-periods.js';
import type { FailedRun, JobVersion } from './job-answers.js';

/** Maximum numbers for one job. */
export const MOST_RUNS = 20;
export const MOST_FAILURES = 10;
/** Only the newest failures keep their stack. */
export const MOST_STACKS = 5;
export const MOST_STARTS = 10;
export const MOST_VERSIONS = 10;
/** Characters of a stack. */
export const LONGEST_STACK = 2048;

/** The past of one job, as the store has it. */
export interface JobRecord {
  readonly semaphore: string;
  readonly job: string;
  /** Newest time of a start or an end: cluster time in ms. The jobs with the oldest ones are dropped first. */
  readonly usedAt: number;
  /** The last runs that are over, newest first. Without messages: {@link failures} has them. */
  readonly runs: readonly RunEntry[];
  /** Newest first. */
  readonly failures: readonly FailedRun[];
  /** Starts of runs of 2 s or more whose end is not known, newest first. */
  readonly starts: readonly StartEntry[];
  /** Oldest first. */
  readonly hours: readonly RunPeriod[];
  /** Oldest first. */
  readonly days: readonly RunPeriod[];
  /** Start of the last run that ended well: cluster time in ms. */
  readonly lastOk?: number | undefined;
  /** The last time at which its schedule was due: cluster time in ms. */
  readonly due?: number | undefined;
  /** Schedule under which it ran last: "0 3 * * *". */
  readonly schedule?: string | undefined;
  /** The newest versions under which it ran, newest first. Absent if its nodes have none. */
  readonly versions?: readonly JobVersion[] | undefined;
}

const EMPTY = { runs: [], failures: [], starts: [], hours: [], days: [] };

/** The record of a job with one run that is over. */
export function ofRun({ message, ...run }: RunEntry, stack?: string): JobRecord {
  const { semaphore, job, at, took = 0, outcome } = run;
  const failure: FailedRun = {
    ...run,
    ...(message !== undefined && { message }),
    ...(stack !== undefined && { stack }),
  };
  return {
    ...EMPTY,
    semaphore,
    job,
    usedAt: at + took,
    runs: [run],
    failures: outcome === 'ok' ? [] : [failure],
    hours: [periodOf(run, HOURS)],
    days: [periodOf(run, DAYS)],
    lastOk: outcome === 'ok' ? at : undefined,
  };
}

/** The record of a job with one run that goes on. */
export function ofStart(start: StartEntry): JobRecord {
  const { semaphore, job, at } = start;
  return { ...EMPTY, semaphore, job, usedAt: at, starts: [start] };
}

/**
 * Adds what is newly known of a job to its record. The order of additions does not matter, except that an addition
 * with the end of a run must follow the one with its start. A run that seemed to have crashed did not if its node tells
 * its end, or how it lost its permit.
 *
 * @param now cluster time in ms
 */
export function combined(known: JobRecord, changes: JobRecord, now: number): JobRecord {
  const living = new Set(changes.starts.flatMap((start) => (start.loss ? runKey(start) : [])));
  const isWrong = (run: RunEntry) =>
    isCrash(run) && (living.has(runKey(run)) || endOf(run, changes.runs) !== undefined);
  const wrong = known.runs.filter(isWrong);
  if (wrong.length === 0) return summedUp([changes, known], now);
  const withoutWrong = <Run extends RunEntry>(runs: readonly Run[]) => runs.filter((run) => !isWrong(run));
  const right = { ...known, runs: withoutWrong(known.runs), failures: withoutWrong(known.failures) };
  return summedUp([changes, right], now, wrong);
}

/**
 * Adds up records of one job. Cheaper than to combine them one by one.
 *
 * @param records at least one, the newest knowledge first
 * @param uncrashed runs that were counted as crashed, and of whose node more is known now
 */
export function summedUp(records: readonly JobRecord[], now: number, uncrashed: readonly RunEntry[] = []): JobRecord {
  const all = records.flatMap((record) => record.runs);
  const runs = newest(unique(all));
  const isEnded = new Set(all.map(runKey));
  const failures = withoutFormer(
    records.flatMap((record) => record.failures),
    runs,
  );
  const starts = unique(records.flatMap((record) => record.starts)).filter((start) => !isEnded.has(runKey(start)));
  const hours = [...records.flatMap((record) => record.hours), ...uncrashed.map((run) => withoutCrash(run, HOURS))];
  const days = [...records.flatMap((record) => record.days), ...uncrashed.map((run) => withoutCrash(run, DAYS))];
  const { semaphore, job } = records[0]!;
  const due = latest(records.map((record) => record.due));
  const named = records.filter(({ schedule }) => schedule !== undefined);
  return {
    semaphore,
    job,
    usedAt: Math.max(...records.map(({ usedAt }) => usedAt)),
    runs: runs.slice(0, MOST_RUNS),
    failures: fewStacks(newest(failures).slice(0, MOST_FAILURES)),
    starts: newest(starts).slice(0, MOST_STARTS),
    hours: addedPeriods(hours, HOURS, now),
    days: addedPeriods(days, DAYS, now),
    lastOk: latest(records.map((record) => record.lastOk)),
    due,
    schedule: (named.find((record) => record.due === due) ?? named[0])?.schedule,
    versions: versionsOf(records),
  };
}

/** During a rolling deploy nodes of both versions note their runs, in any order. The first one of each version counts. */
function versionsOf(records: readonly JobRecord[]): readonly JobVersion[] | undefined {
  const firsts = new Map<string, JobVersion>();
  for (const each of records.flatMap(({ versions = [] }) => versions)) {
    const first = firsts.get(each.version);
    if (!first || each.since < first.since) firsts.set(each.version, each);
  }
  if (firsts.size === 0) return undefined;
  return [...firsts.values()].toSorted((one, other) => other.since - one.since).slice(0, MOST_VERSIONS);
}

/**
 * Notes that runs whose permit expired have crashed. Their end replaces that, if their node lives after all. A node that
 * told that the run lost its permit lived on: the permit that expires now is that one.
 */
export function withExpiry(record: JobRecord, { token, at: until }: ExpiryEntry, now: number): JobRecord {
  const start = record.starts.find((each) => each.token === token);
  if (!start || start.loss) return record;
  return combined(record, ofRun(withoutEnd(start, until)), now);
}

/** Forgets the starts of runs that ended. @param ended by {@link runInShard} */
export function withoutStarts(record: JobRecord, ended: ReadonlySet<string>): JobRecord {
  const isEnded = (start: StartEntry) => ended.has(runInShard(record.semaphore, runKey(start)));
  return { ...record, starts: record.starts.filter((start) => !isEnded(start)) };
}

/** Identifies a run of one job. Runs that overlap may share a permit, so the permit is only used without a number. */
export function runKey({
  node,
  at,
  run,
  token,
  slot,
}: Omit<StartEntry, 'kind' | 'run'> & { readonly run?: number | undefined }): string {
  return (run === undefined ? [node.instance, at, token, slot] : [node.instance, at, run]).join('\n');
}

/**
 * Identifies a run among those of several semaphores. Runs of jobs that are due at one time may begin in the same ms with
 * the same number.
 *
 * @param run its {@link runKey}
 */
export function runInShard(semaphore: string, run: string): string {
  return `${semaphore}\n${run}`;
}

/** The first of several entries about one run is right, but an end replaces a crash. */
function unique<Entry extends RunEntry | StartEntry>(entries: readonly Entry[]): Entry[] {
  const byKey = new Map<string, Entry>();
  for (const entry of entries) {
    const known = byKey.get(runKey(entry));
    if (!known || (isCrash(known) && !isCrash(entry))) byKey.set(runKey(entry), entry);
  }
  return [...byKey.values()];
}

function isCrash(entry: RunEntry | StartEntry): boolean {
  return entry.kind === 'run' && entry.outcome === 'crashed';
}

/** A run that seemed to have crashed may have ended well. */
function withoutFormer(failures: readonly FailedRun[], runs: readonly RunEntry[]): FailedRun[] {
  const outcomes = new Map(runs.map((run) => [runKey(run), run.outcome]));
  return unique(failures).filter((run) => (outcomes.get(runKey(run)) ?? run.outcome) === run.outcome);
}

function endOf(crash: RunEntry, runs: readonly RunEntry[]): EndedRun | undefined {
  return runs.find((run): run is EndedRun => !isCrash(run) && runKey(run) === runKey(crash));
}

/** Sorted so that the result does not depend on the order of the entries. */
function newest<Entry extends RunEntry | StartEntry>(entries: readonly Entry[]): Entry[] {
  return entries.toSorted((one, other) => newerFirst(one, other) || (runKey(one) < runKey(other) ? 1 : -1));
}

function fewStacks(failures: readonly FailedRun[]): FailedRun[] {
  return failures.map((failure, index) => {
    if (index < MOST_STACKS || failure.stack === undefined) return failure;
    const { stack: _dropped, ...rest } = failure;
    return rest;
  });
}

function latest(times: readonly (number | undefined)[]): number | undefined {
  const known = times.filter((time) => time !== undefined);
  return known.length === 0 ? undefined : Math.max(...known);
}
