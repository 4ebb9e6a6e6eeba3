import type { ClusterClockReport } from '../../core/clock/index.js';
import { NoQuorumError, type StoreHealth, UnknownOutcomeError } from '../../core/store/index.js';
import { STALE_PARTS, type StalePart, type StalePartName, staleOf } from '../../core/context/stale.js';
import { LIST_FACTOR, type CallFacts, type StorePart } from '../../core/store/store.js';
import type { FaultPart } from './leader-watch.js';
import type { HealthFault, HealthFaultCode, HealthReport, UnreadableCounts } from './health-answers.js';

/** The node's monotonic ms at which the last complete reading of each part began. */
export type ReadTimes = Partial<Record<StalePartName, number | undefined>>;

/** Input of a report. Times are the node's monotonic ms unless stated otherwise. */
export interface HealthFacts {
  readonly monotonic: number;
  /** The same moment in cluster time. */
  readonly now: number;
  /** ms after which a call for one record counts as unanswered. */
  readonly patience: number;
  readonly isClosing: boolean;
  readonly store: StoreHealth;
  readonly calls: (part: StorePart) => CallFacts;
  /** `suspect` only if clocks seem to differ, not because a node has just started. */
  readonly clock: Pick<ClusterClockReport, 'suspect'> & { readonly isFresh: boolean };
  /** Begin of the last complete reading of each part that this node keeps. */
  readonly readAt: ReadTimes;
  /** Why the shards of the names on demand can't be read, while other records can. */
  readonly shards?: { readonly since: number; readonly sentence: string } | undefined;
  /** The grace of restored records. */
  readonly recovering: HealthFacts['archive'];
  /** Semaphores that this node's code defines and that were removed. */
  readonly removed: HealthFacts['archive'];
  /** Stored definitions that should follow the code and have not for longer than a deploy. */
  readonly unfollowed: HealthFacts['archive'];
  /** Actions on the archive of definitions that keep failing. */
  readonly archive: readonly { readonly since: number; readonly sentence: string }[];
  /** Actions on the archive of runs that keep failing. */
  readonly runArchive: HealthFacts['archive'];
  /** Scopes of leadership that have had no leader for too long. */
  readonly leaderless: readonly FaultPart[];
  /** Allocation groups with resources that have had no owner for too long. */
  readonly unowned: readonly FaultPart[];
  /** Allocation groups with a problem on any node. */
  readonly failingGroups: readonly FaultPart[];
  /** Other applications on this store that use names of this one. */
  readonly otherApplications: readonly FaultPart[];
  /** Receivers of alerts that got no alert. */
  readonly undelivered: readonly { readonly since: number; readonly sentence: string }[];
  readonly unreadable: UnreadableCounts;
  /** When the faults of the last report were first seen. */
  readonly known: ReadonlyMap<HealthFaultCode, number>;
}

interface Finding {
  readonly code: HealthFaultCode;
  readonly sentence: string;
  readonly stopsGrants?: boolean;
  /** When it began, if the node noticed that. */
  readonly since?: number | undefined;
  /** Last time at which it was surely absent. A report before that time does not count as its start. */
  readonly absentAt?: number | undefined;
}

/** ms after which a failed call no longer counts. Important calls are repeated sooner. */
const MEMORY = 60_000;

/** Derives the report from the facts. Pure. */
export function healthReport(facts: HealthFacts): HealthReport {
  const store = storeFinding(facts);
  const unread = unreadParts(facts, store);
  const faults = findingsOf(facts, store, unread).map((finding) => faultOf(finding, facts));
  const grants = faults.every(({ stopsGrants }) => !stopsGrants);
  return {
    status: faults.length === 0 ? 'healthy' : grants ? 'degraded' : 'down',
    grants,
    now: facts.now,
    faults,
    ...staleOf({ stale: unread.map(({ part, sentence }) => staleEntry(part, sentence, facts)) }),
  };
}

/** Converts a node's monotonic ms to cluster time. */
export function clusterTimeOf(at: number, { now, monotonic }: Pick<HealthFacts, 'now' | 'monotonic'>): number {
  return Math.round(now - (monotonic - at));
}

/** The entry of a part that can't be read now. */
export function staleEntry(
  part: StalePartName,
  sentence: string,
  { readAt: { [part]: readAt }, ...moment }: Pick<HealthFacts, 'now' | 'monotonic' | 'readAt'>,
): StalePart {
  return { part, ...(readAt !== undefined && { since: clusterTimeOf(readAt, moment) }), sentence };
}

/** If the store is unreachable, other failed calls are not reported, because they have the same cause. */
function findingsOf(facts: HealthFacts, store: Finding | undefined, unread: readonly UnreadPart[]): Finding[] {
  const closing = facts.isClosing ? [CLOSING] : [];
  const rest = [
    ...combined('recovering', facts.recovering),
    ...combined('semaphores-removed', facts.removed),
    ...combined('code-not-followed', facts.unfollowed),
    ...combined('no-leader', facts.leaderless),
    ...combined('resources-unowned', facts.unowned),
    ...combined('allocation-failing', facts.failingGroups),
    ...combined('archive-failing', facts.archive),
    ...combined('run-archive-failing', facts.runArchive),
    ...combined('alerts-undelivered', facts.undelivered),
    ...combined('other-application', facts.otherApplications),
  ];
  if (store) return [...closing, store, ...rest];
  const parts = unread.map(({ part, ...found }) => ({ code: `${part}-unread` as const, ...found }));
  const tasks = failureOf('tasks', TASKS, facts).map((found) => ({ code: 'tasks-failing', ...found }) as const);
  const shards = facts.shards ? [{ code: 'shards-unread', ...facts.shards } as const] : [];
  return [...closing, ...clockFindings(facts), ...parts, ...tasks, ...shards, ...leftOut(facts.unreadable), ...rest];
}

const CLOSING: Finding = { code: 'closing', sentence: 'this node shuts down: ask another one', stopsGrants: true };

function storeFinding(facts: HealthFacts): Finding | undefined {
  const { store, monotonic, patience } = facts;
  const reads = facts.calls('reads');
  const writes = recent(facts.calls('writes'), monotonic);
  const absentAt = latest(reads.answeredAt, writes.answeredAt);
  const fault = (code: HealthFaultCode, sentence: string, since?: number): Finding => ({
    code,
    sentence,
    stopsGrants: true,
    since,
    absentAt: code === 'no-quorum' ? writes.answeredAt : absentAt,
  });
  const begin = earliest(reads.failing?.since, writes.failing?.since, reads.waitingSince, writes.waitingSince);
  if (!store.connected) return fault('store-unreachable', unreachable(store), begin);
  const refused = [writes.failing, reads.failing].find((failing) => failing?.error instanceof NoQuorumError);
  if (store.members < store.quorum) return fault('no-quorum', tooFew(store), refused?.since);
  if (refused) return fault('no-quorum', refused.error.message, refused.since);
  const waiting = earliest(reads.waitingSince, writes.waitingSince);
  if (waiting !== undefined && monotonic - waiting >= patience) {
    return fault('store-silent', silent(patience), waiting);
  }
  const failing = reads.failing ?? surelyFailing(writes, facts);
  return failing && fault('store-failing', `the store refuses its calls (${failing.error.message})`, failing.since);
}

/** A single write without an answer is no outage. Writes that stay without one are, even while reads are answered. */
function surelyFailing({ failing }: CallFacts, { monotonic, patience }: HealthFacts): CallFacts['failing'] {
  if (!(failing?.error instanceof UnknownOutcomeError)) return failing;
  return failing.isRepeated && monotonic - failing.since >= patience ? failing : undefined;
}

function unreachable({ problem = 'not connected' }: StoreHealth): string {
  return `the store can't be reached (${problem}): check its servers and the network to them`;
}

function tooFew({ members, quorum }: StoreHealth): string {
  return `${members} of at least ${quorum} members of the store are running: start more members`;
}

function silent(patience: number): string {
  return `the store is connected, but gives no answer within ${patience} ms: a member may be frozen, or the network cut`;
}

function clockFindings(facts: HealthFacts): Finding[] {
  const { clock, monotonic, patience } = facts;
  const { failing, waitingSince = monotonic, answeredAt } = facts.calls('clock');
  const isSilent = monotonic - waitingSince >= patience;
  if (!clock.isFresh && (failing || isSilent)) {
    const why = failing?.error.message ?? `no answer within ${patience} ms`;
    const sentence = `the members' clocks can't be read (${why}): check the members`;
    const since = failing?.since ?? waitingSince;
    return [{ code: 'clock-unread', sentence, stopsGrants: true, since, absentAt: answeredAt }];
  }
  if (clock.suspect === undefined) return [];
  const sentence = `clocks can't be trusted (${clock.suspect}): permits of nodes that crashed are taken over later than usual`;
  return [{ code: 'clock-suspect', sentence }];
}

/** A part that can't be read now. If no fault of the store is the cause, it is a fault of its own. */
interface UnreadPart extends Omit<Finding, 'code'> {
  readonly part: StalePartName;
}

/** The subject of the fault of failed calls of one kind, and how many times the patience they may take. */
type Calls = readonly [subject: string, factor: number];

const LISTS: Record<StalePartName, Calls> = {
  records: ["the semaphores can't be read", LIST_FACTOR],
  nodes: ["the list of nodes can't be read", LIST_FACTOR],
  runs: ["the history of runs can't be read", 1],
  audit: ["the audit log can't be read", 1],
};
const TASKS: Calls = ["tasks can't be read or written", 1];

const PARTS = Object.keys(STALE_PARTS) as StalePartName[];

/** A store that answers no reads has none of the parts. One that refuses only writes has all. */
function unreadParts(facts: HealthFacts, store: Finding | undefined): UnreadPart[] {
  if (!store) return PARTS.flatMap((part) => failureOf(part, LISTS[part], facts).map((found) => ({ part, ...found })));
  return isUnread(store.code, facts) ? PARTS.map((part) => ({ part, sentence: store.sentence })) : [];
}

function failureOf(part: StorePart, [subject, factor]: Calls, facts: HealthFacts): Omit<Finding, 'code'>[] {
  const { monotonic } = facts;
  const patience = factor * facts.patience;
  const calls = recent(facts.calls(part), monotonic);
  const { waitingSince = monotonic, answeredAt } = calls;
  const failing = surelyFailing(calls, facts);
  const isSilent = monotonic - waitingSince >= patience;
  if (!failing && !isSilent) return [];
  const why = failing?.error.message ?? `no answer within ${patience} ms`;
  const since = failing?.since ?? waitingSince;
  return [{ sentence: `${subject} (${why})`, since, absentAt: answeredAt }];
}

function leftOut({ runs, audit, nodes }: UnreadableCounts): Finding[] {
  if (runs + audit + nodes === 0) return [];
  const counts = `${runs} of the history, ${audit} of the audit log, ${nodes} of nodes`;
  const sentence = `entries can't be read and are left out (${counts}): another version or another program wrote them`;
  return [{ code: 'entries-unreadable', sentence }];
}

/** One finding about several faults of a kind. */
function combined(code: HealthFaultCode, faults: HealthFacts['archive']): Finding[] {
  if (faults.length === 0) return [];
  const sentence = faults.map((each) => each.sentence).join('; ');
  return [{ code, sentence, since: earliest(...faults.map(({ since }) => since)) }];
}

function faultOf({ code, sentence, stopsGrants = false, ...seen }: Finding, facts: HealthFacts): HealthFault {
  const known = facts.known.get(code);
  const isOlder = known !== undefined && known >= (seen.absentAt ?? -Infinity);
  const since = earliest(seen.since, isOlder ? known : undefined) ?? facts.monotonic;
  return { code, since: clusterTimeOf(since, facts), sentence, stopsGrants };
}

/** @param code of a fault of the store */
function isUnread(code: HealthFaultCode, facts: HealthFacts): boolean {
  return code === 'store-unreachable' || code === 'store-silent' || facts.calls('reads').failing !== undefined;
}

/** Drops facts that are too old to matter now. */
function recent({ answeredAt, failing, waitingSince }: CallFacts, monotonic: number): CallFacts {
  const isRecent = (at: number | undefined) => at !== undefined && monotonic - at < MEMORY;
  return {
    ...(answeredAt !== undefined && { answeredAt }),
    ...(failing && isRecent(failing.lastAt) && { failing }),
    ...(waitingSince !== undefined && isRecent(waitingSince) && { waitingSince }),
  };
}

function earliest(...times: (number | undefined)[]): number | undefined {
  const given = times.filter((time) => time !== undefined);
  return given.length > 0 ? Math.min(...given) : undefined;
}

function latest(...times: (number | undefined)[]): number | undefined {
  const given = times.filter((time) => time !== undefined);
  return given.length > 0 ? Math.max(...given) : undefined;
}
