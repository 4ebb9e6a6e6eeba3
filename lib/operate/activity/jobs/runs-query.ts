import type { HistoryEntry, RunEntry } from '../history-answers.js';
import type { JobRuns } from './job-answers.js';
import { runKey } from './job-record.js';

/** Kinds of runs that a query can select. */
export const RUN_KINDS = ['ok', 'running', 'failed', 'lost', 'skipped'] as const;

/** `failed`: it threw an error, its node crashed, or it lost its permit. `lost`: only the last of these. */
export type RunKind = (typeof RUN_KINDS)[number];

/** Selects runs. Without a field, it does not matter. */
export interface RunsQuery {
  /** Only runs of this semaphore. */
  readonly semaphore?: string | undefined;
  /** Only runs of the job with this name. */
  readonly job?: string | undefined;
  /** Only runs on this node: its acquirer, "group/acquirer" or its instance. */
  readonly node?: string | undefined;
  /** Only runs whose semaphore, job or node has this name. */
  readonly by?: string | undefined;
  /** Only runs of this kind. */
  readonly show?: RunKind | undefined;
  /** Only runs that ended at this time or later, or go on: cluster time, ms since the epoch; negative: ms from now. */
  readonly since?: number | undefined;
  /** Only runs that began at this time or earlier: cluster time, ms since the epoch; negative: ms from now. */
  readonly until?: number | undefined;
  /** Maximum number of entries: the newest ones. */
  readonly limit: number;
}

const FAILURES: ReadonlySet<RunEntry['outcome']> = new Set(['failed', 'crashed', 'lost']);

/** Whether an entry has one of the kinds. */
export function isOfKind(entry: HistoryEntry, kind: RunKind): boolean {
  if (entry.kind === 'skip') return kind === 'skipped';
  if (entry.kind === 'running') return kind === 'running';
  return kind === 'failed' ? FAILURES.has(entry.outcome) : entry.outcome === kind;
}

/** Whether a query needs more than the newest entries of all. */
export function isSelective({ limit: _limit, ...query }: RunsQuery): boolean {
  return Object.values(query).some((value) => value !== undefined);
}

/** Replaces times from now by cluster time. @param now cluster time in ms */
export function absolute(query: RunsQuery, now: number): RunsQuery {
  const from = (time: number | undefined) => (time !== undefined && time < 0 ? now + time : time);
  return { ...query, since: from(query.since), until: from(query.until) };
}

export function matchesQuery(entry: HistoryEntry, query: RunsQuery): boolean {
  const { semaphore, job, node, by, show, since, until } = query;
  return (
    (semaphore === undefined || entry.semaphore === semaphore) &&
    (job === undefined || entry.job === job) &&
    (node === undefined || namesOf(entry).includes(node)) &&
    (by === undefined || [entry.semaphore, entry.job, ...namesOf(entry)].includes(by)) &&
    (show === undefined || isOfKind(entry, show)) &&
    (since === undefined || endOf(entry) >= since) &&
    (until === undefined || entry.at <= until)
  );
}

function namesOf({ node: { group, acquirer, instance } }: HistoryEntry): string[] {
  return [acquirer, `${group}/${acquirer}`, instance];
}

function endOf(entry: HistoryEntry): number {
  if (entry.kind === 'running') return Infinity;
  return entry.kind === 'run' ? entry.at + (entry.took ?? 0) : entry.at;
}

/** All entries of one job's past: its last runs and failures, and the runs that go on. */
export function* entriesOf({ runs, failures, running }: JobRuns): Generator<HistoryEntry> {
  yield* runs;
  for (const { stack: _stack, ...failure } of failures) yield failure;
  yield* running;
}

/** Identifies the run of an entry. A run that goes on and its end have the same key. */
export function entryKey(entry: HistoryEntry): string {
  const { semaphore, job, at, node } = entry;
  const run = entry.kind === 'skip' ? `skip\n${node.instance}\n${at}\n${entry.reason}` : runKey(entry);
  return `${semaphore}\n${job}\n${run}`;
}
