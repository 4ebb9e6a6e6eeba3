import { Calls } from './calls.js';
import { Counts } from './counts.js';
import { type Distribution, distributionOf } from './distribution.js';
import { GuardedWrites } from './guarded-writes.js';
import type { HistoryEntry } from './history.js';
import { Limits } from './limits.js';
import { Members } from './members.js';
import { Overlaps } from './overlaps.js';
import { Permits } from './permits.js';
import { Processes } from './processes.js';
import { type TakeoverTimes, Takeovers } from './takeovers.js';
import { EndNotices } from './end-notices.js';
import { Tokens } from './tokens.js';
import { type Violation, Violations } from './violations.js';

export interface CheckOptions {
  /** By semaphore, or '*' for those that are not named; without, takeovers are only measured. */
  readonly takeovers?: Readonly<Record<string, TakeoverTimes>>;
  /** ms by which a timer may fire late, and an entry be logged after what it tells. */
  readonly slack?: number;
}

export interface HistoryFigures {
  readonly entries: number;
  /** ms from the first entry to the last. */
  readonly span: number;
  readonly grants: number;
  readonly refreshes: number;
  readonly releases: number;
  readonly denials: Readonly<Record<string, number>>;
  /** By the logged error; `unanswered`: calls with unknown outcome. */
  readonly failures: Readonly<Record<string, number>>;
  readonly overlaps: number;
  readonly writes: { readonly applied: number; readonly staleRefused: number; readonly staleApplied: number };
  /** ms from the death or freezing of a holder to the next grant. */
  readonly takeovers: Distribution & { readonly unjudged: number };
  /** ms from the end of a permit until its holder learnt of it; negative if the holder learnt it before the end. */
  readonly toldLate: Distribution;
  /** How often a process could do nothing for a while. */
  readonly stalls: number;
  /** How many membership leases were judged to be over, each counted once. */
  readonly judged: number;
}

export interface Verdict {
  readonly violations: readonly Violation[];
  readonly figures: HistoryFigures;
}

const DEFAULT_SLACK = 50;

/**
 * Compares a history with the promises. Pure; one pass in the order of time, so that a million entries take seconds. It
 * uses only entries of processes, and knows nothing of records and stores.
 */
export function checkHistory(history: readonly HistoryEntry[], options: CheckOptions = {}): Verdict {
  const { takeovers: times = {}, slack = DEFAULT_SLACK } = options;
  // Stable: what one process logged at one moment stays in its order.
  const entries = history.toSorted((one, other) => one.at - other.at);
  const violations = new Violations(entries);
  const counts = new Counts();
  const calls = new Calls(violations);
  const processes = new Processes(violations, slack, entries);
  const limits = new Limits();
  const tokens = new Tokens(violations);
  const writes = new GuardedWrites(violations);
  const members = new Members(violations);
  const overlaps = new Overlaps(violations, limits);
  const endNotices = new EndNotices(violations, processes, slack);
  const permits = new Permits(violations, overlaps, endNotices);
  const takeovers = new Takeovers(
    violations,
    { permits, limits, processes, calls },
    (name) => times[name] ?? times['*'],
  );

  for (const [index, entry] of entries.entries()) {
    violations.index = index;
    counts.see(entry);
    const invoked = calls.see(entry);
    processes.see(entry);
    if (entry.event === 'limited') limits.see(entry);
    if (entry.event === 'written') writes.see(entry);
    members.see(entry);
    tokens.see(entry, invoked);
    takeovers.see(entry, invoked);
    permits.see(entry, invoked);
  }
  const end = entries.at(-1)?.at ?? violations.start;
  permits.finish(end);
  takeovers.finish(end);

  return {
    violations: violations.found,
    figures: {
      entries: entries.length,
      span: end - violations.start,
      ...counts.figures([...calls.open].length),
      overlaps: overlaps.count,
      writes: { applied: writes.applied, staleRefused: writes.staleRefused, staleApplied: writes.staleApplied },
      takeovers: { ...distributionOf(takeovers.times), unjudged: takeovers.unjudged },
      toldLate: distributionOf(endNotices.late),
      stalls: processes.stalls,
      judged: members.judged,
    },
  };
}
