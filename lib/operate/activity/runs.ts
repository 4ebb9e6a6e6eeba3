import { type Pieces, inSlices } from '../../core/async/slices.js';
import { sortedInPieces } from '../../core/async/sorted.js';
import { type Context, timeOf } from '../../core/context/context.js';
import { LEADERSHIP_JOB } from '../../core/decision/reserved-names.js';
import type { HistoryEntry } from './history-answers.js';
import type { StartEntry } from './entry-schemas.js';
import { newerFirst } from './history-entry.js';
import type { RunFacts } from './jobs/paired-runs.js';
import type { RunHistory } from './run-history.js';
import type { JobHistories } from './jobs/job-histories.js';
import type { JobRecord } from './jobs/job-record.js';
import type { JobRuns } from './jobs/job-answers.js';
import { jobRuns } from './jobs/job-runs.js';
import { HOUR } from './jobs/run-periods.js';
import { type RunsQuery, absolute, entriesOf, entryKey, isSelective, matchesQuery } from './jobs/runs-query.js';

/** Default capacity of the journal. All of it is read, because runs of one job may be far back. */
const ALL = 10_000;

interface RunsParts {
  readonly context: Context;
  readonly history: Pick<RunHistory, 'read'>;
  readonly histories: JobHistories;
  /** Reads what is known of starts without an end. */
  readonly factsOf: (open: readonly StartEntry[]) => Promise<RunFacts>;
}

/**
 * The runs of all nodes: the last ones of all jobs together, and the past of each job, which other jobs can't push out.
 */
export class Runs {
  readonly #parts: RunsParts;
  #known: readonly JobRuns[] = [];
  #readAt?: number | undefined;
  /** Unchanged records are the same objects in each reading. */
  readonly #cache: ShownRecords = new WeakMap();

  /** Only a gatekeeper makes one. */
  constructor(parts: RunsParts) {
    this.#parts = parts;
  }

  /**
   * Finds runs, newest first. They come from the journal of the last runs, and from the past of each job.
   *
   * @param query selects runs
   * @param sees returns false for semaphores whose runs are left out; default: all are seen
   * @throws StoreUnavailableError
   */
  async find(query: RunsQuery, sees?: (semaphore: string) => boolean): Promise<HistoryEntry[]> {
    const { history, context } = this.#parts;
    if (!isSelective(query) && !sees) return (await history.read(query.limit)).toReversed();
    const [entries, jobs] = await Promise.all([history.read(ALL), this.jobs(query.semaphore)]);
    const exact = absolute(query, timeOf(context));
    const isWanted = (entry: HistoryEntry) => matchesQuery(entry, exact) && (!sees || sees(entry.semaphore));
    const found = await inSlices(allOf(entries, jobs, isWanted), context.nodeClock);
    return (await inSlices(sortedInPieces(found, newerFirst), context.nodeClock)).slice(0, query.limit);
  }

  /**
   * The past of each job, sorted by semaphore and job.
   *
   * @param semaphore only the jobs of this semaphore; default: all jobs
   * @throws StoreUnavailableError
   */
  async jobs(semaphore?: string): Promise<JobRuns[]> {
    const { histories } = this.#parts;
    const past = semaphore === undefined ? await this.#shown(await histories.all()) : await this.of([semaphore]);
    return past.filter(isOfJob);
  }

  /**
   * The past of each job of some semaphores, and of their terms of leadership, sorted by semaphore and job.
   *
   * @throws StoreUnavailableError
   */
  async of(semaphores: readonly string[]): Promise<JobRuns[]> {
    return this.#shown(await this.#parts.histories.of(semaphores));
  }

  /**
   * As {@link of}, for overviews. The past of all semaphores may be some seconds old, because it is read often.
   *
   * @param semaphore only the jobs of this semaphore, as they are now; default: all jobs
   * @throws StoreUnavailableError
   */
  async recent(semaphore?: string): Promise<readonly JobRuns[]> {
    const { histories, context } = this.#parts;
    if (semaphore === undefined) {
      this.#known = await this.#shown(await histories.recent());
      this.#readAt = histories.readAt;
      return this.#known;
    }
    const begun = context.nodeClock.monotonic();
    const past = await this.of([semaphore]);
    this.#known = [...this.#known.filter((each) => each.semaphore !== semaphore), ...past];
    this.#readAt ??= begun;
    return past;
  }

  /** The last answers of {@link recent}; empty before the first one. */
  get known(): readonly JobRuns[] {
    return this.#known;
  }

  /** Age of {@link known}: monotonic ms of the last reading of all jobs. Absent before the first answer. */
  get readAt(): number | undefined {
    return this.#readAt;
  }

  async #shown(records: readonly JobRecord[]): Promise<JobRuns[]> {
    const { factsOf, context } = this.#parts;
    const facts = await factsOf(records.flatMap(({ starts }) => starts));
    const now = Math.round(timeOf(context));
    const jobs = await inSlices(shownInPieces(records, facts, now, this.#cache), context.nodeClock);
    return inSlices(sortedInPieces(jobs, byName), context.nodeClock);
  }
}

/** A term of leadership is no run of a job: it is only kept as the last one of its semaphore. */
function isOfJob({ job }: JobRuns): boolean {
  return job !== LEADERSHIP_JOB;
}

type ShownRecords = WeakMap<JobRecord, { readonly hour: number; readonly shown: JobRuns }>;

function* shownInPieces(
  records: readonly JobRecord[],
  facts: RunFacts,
  now: number,
  cache: ShownRecords,
): Pieces<JobRuns[]> {
  const jobs: JobRuns[] = [];
  for (const record of records) {
    jobs.push(shownOnce(record, facts, now, cache));
    yield 1;
  }
  return jobs;
}

/** Only runs that go on, and a new hour, change what an unchanged record shows. */
function shownOnce(record: JobRecord, facts: RunFacts, now: number, cache: ShownRecords): JobRuns {
  const hour = Math.floor(now / HOUR);
  const known = cache.get(record);
  if (known?.hour === hour) return known.shown;
  const shown = jobRuns(record, facts, now);
  if (record.starts.length === 0) cache.set(record, { hour, shown });
  return shown;
}

/** The journal is newer than the past of the jobs, but may lack the message of a failure that it has not read. */
function* allOf(
  entries: readonly HistoryEntry[],
  jobs: readonly JobRuns[],
  isWanted: (entry: HistoryEntry) => boolean,
): Pieces<HistoryEntry[]> {
  const known = new Set<string>();
  const found: HistoryEntry[] = [];
  for (const entry of bothOf(entries, jobs)) {
    const key = entryKey(entry);
    if (!known.has(key) && isWanted(entry)) found.push(entry);
    known.add(key);
    yield 1;
  }
  return found;
}

function* bothOf(entries: readonly HistoryEntry[], jobs: readonly JobRuns[]): Generator<HistoryEntry> {
  yield* entries.toReversed();
  for (const job of jobs) yield* entriesOf(job);
}

function byName(one: JobRuns, other: JobRuns): number {
  return compare(one.semaphore, other.semaphore) || compare(one.job, other.job);
}

function compare(one: string, other: string): number {
  return one < other ? -1 : Number(one > other);
}
