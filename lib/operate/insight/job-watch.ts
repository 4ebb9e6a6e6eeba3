import { type JobRuns, NodeMatches, type NodeRegistry, type RunStatistics, type Runs } from '../activity/index.js';
import { forEachLimit } from '../../core/async/for-each-limit.js';
import { type Pieces, inSlices } from '../../core/async/slices.js';
import { type Context, timeOf } from '../../core/context/context.js';
import { type SemaphoreRecord, compileInPieces, intendedDefinition, word } from '../../core/decision/index.js';
import type { DeclaredDefinitions } from '../../core/permits/declared/declared-definitions.js';
import type { SemaphoreListing } from '../../core/cell/semaphore-listing.js';
import { groupedBy, groupedInPieces } from './grouped.js';
import type { NodesReader, NodesReading } from './nodes-watch.js';
import { type ScheduledJob, jobsOn } from './scheduled-job.js';
import { semaphoreState } from './state.js';
import type { Warning } from './warning.js';
import { WATCHED_CODES, type WatchedCode } from './warning-codes.js';
import { type SemaphoreFacts, warningsOf } from './warnings.js';

/** ms for which a warning must last: a missed run that is made up for, or a node that has just started, is no news. */
const PATIENCE: Record<WatchedCode, number> = { 'not-run': 15_000, 'holder-silent': 60_000 };
/** Number of semaphores that one look logs, and that the health shows, for each code. After an outage all jobs were missed. */
const MOST_TOLD = 20;
/** Number of records that one look reads: those that were read longest ago. The others keep the warnings that they had. */
const MOST_READ = 100;
/**
 * ms after which a grant alone no longer shows that a job runs. The grant may be that of another call, or of a node that died
 * at once, again and again.
 */
const TRUST = 86_400_000;

/** A warning that a node looks for. */
interface WatchedWarning extends Warning {
  readonly code: WatchedCode;
}

/** A warning about a job of this node. */
export interface JobWarning extends WatchedWarning {
  /** Name of the semaphore. */
  readonly semaphore: string;
  /** Since when this node sees it: its monotonic ms. */
  readonly since: number;
}

/** A warning of the latest look. */
interface Seen extends JobWarning {
  /** Number of jobs or holders that it is about. */
  readonly count: number;
  /** Number of them in the last event; 0 before there was one. */
  readonly told: number;
}

/** The parts of this node that a {@link JobWatch} needs. */
interface JobWatchParts {
  readonly registry: Pick<NodeRegistry, 'jobs'>;
  readonly declared: Pick<DeclaredDefinitions, 'all' | 'get' | 'recordOf'>;
  readonly listing: Pick<SemaphoreListing, 'one'>;
  readonly runs: Pick<Runs, 'of'>;
}

/**
 * Watches the semaphores of this node's jobs and definitions, so that a job does not stop in silence for those who look at
 * the log or at the health alone.
 *
 * ```
 *   the entries of all nodes,           still a warning        still a warning
 *   the records in memory, the      ─▶  by their past,     ─▶  by their records,   ─▶  a warning
 *   past as it was last read            read together          read one by one
 * ```
 *
 * The first part costs no call of the store: a grant since a time at which the only job of a semaphore was due shows that it
 * has run. Another node's grant comes into memory with a sweep, usually within a minute. So the past is read only if the run
 * still seems to be missing at the next look.
 */
export class JobWatch implements NodesReader {
  readonly action = 'look for jobs that did not run';
  /** By semaphore, the past as it was last read, and when: monotonic ms. */
  readonly #read = new Map<string, { readonly past: readonly JobRuns[]; readonly at: number }>();
  /** By semaphore, when its record was last read: monotonic ms. */
  readonly #confirmedAt = new Map<string, number>();
  /** By semaphore, the look since which a run seems to be missing: monotonic ms. */
  #missingSince = new Map<string, number>();
  /** By {@link keyOf}. */
  #seen: ReadonlyMap<string, Seen> = new Map();

  constructor(
    private readonly parts: JobWatchParts,
    private readonly context: Context,
  ) {}

  /** The present warnings of some semaphores, at most {@link MOST_TOLD} of each code. */
  warnings(isWanted: (semaphore: string) => boolean): readonly JobWarning[] {
    const told = [...this.#seen.values()].filter((each) => each.told > 0 && isWanted(each.semaphore));
    return [...groupedBy(told, ({ code }) => code).values()].flatMap((some) => some.slice(0, MOST_TOLD));
  }

  async look({ codes, isWhole }: NodesReading): Promise<void> {
    const nodes = codes.map(({ node }) => node);
    // After an outage all entries have expired, until each node writes its own again: no warning has ended by that.
    if (!nodes.some(({ instance }) => instance === this.context.node.instance)) return;
    const now = timeOf(this.context);
    // An entry that can't be read may be that of a holder.
    const heard = isWhole ? new Set(nodes.map(({ instance }) => instance)) : undefined;
    const look = { nodes, heard, matches: new NodeMatches(nodes), now };
    const suspects = await this.#stillWarned(await inSlices(this.#suspects(look), this.context.nodeClock), look);
    const confirmedAt = ({ name }: Suspect) => this.#confirmedAt.get(name) ?? -Infinity;
    const byAge = suspects.toSorted((one, other) => confirmedAt(one) - confirmedAt(other));
    const later = new Set(byAge.slice(MOST_READ).map(({ name }) => name));
    const found = new Map([...this.#seen].filter(([, { semaphore }]) => later.has(semaphore)));
    await forEachLimit(byAge.slice(0, MOST_READ), async (suspect) => {
      for (const warning of await this.#confirmed(suspect, look)) this.#take(warning, suspect.name, found);
    });
    this.#note(found);
  }

  /** The semaphores that seem to have a warning, by what is in memory. */
  *#suspects(look: Look): Pieces<Suspect[]> {
    const { declared, registry } = this.parts;
    const own = new Set(registry.jobs().flatMap(({ semaphore }) => semaphore ?? []));
    const jobsOf = yield* groupedInPieces(jobsOn(look.nodes), ({ card }) => card.semaphore);
    const suspects: Suspect[] = [];
    const missingSince = new Map<string, number>();
    for (const name of new Set([...own, ...declared.all.map((each) => each.name)])) {
      yield 1;
      const record = declared.recordOf(name);
      // Without a job and a permit there is nothing to miss.
      if (!record || (!own.has(name) && record.permits.length === 0)) continue;
      const jobs = jobsOf.get(name) ?? [];
      const past = this.#read.get(name)?.past ?? assumedPast(name, jobs);
      const facts = past && { jobs, past, trustsGrants: this.#trustsGrants(name, jobs) };
      // An unknown past has to be read.
      const codes = facts && (yield* this.#warnings(name, record, facts, look)).map(({ code }) => code);
      if (codes?.length === 0) continue;
      const since = this.#missingSince.get(name) ?? this.#seen.get(keyOf({ code: 'not-run', semaphore: name }))?.since;
      if (!codes || codes.includes('not-run')) missingSince.set(name, since ?? this.context.nodeClock.monotonic());
      const mayComeSoon = since === undefined && codes?.every((code) => code === 'not-run');
      if (!mayComeSoon) suspects.push({ name, record, jobs, past: [] });
    }
    this.#missingSince = missingSince;
    return suspects;
  }

  /**
   * Whether a grant in memory shows that the job of a semaphore has run: not which one of several jobs, and not that a missed
   * run was made up for.
   */
  #trustsGrants(name: string, jobs: readonly ScheduledJob[]): boolean {
    const { at = -Infinity } = this.#read.get(name) ?? {};
    const isYoung = this.context.nodeClock.monotonic() - at < TRUST;
    const isWarned = this.#seen.has(keyOf({ code: 'not-run', semaphore: name }));
    return isYoung && !isWarned && new Set(jobs.map(({ card }) => card.job)).size === 1;
  }

  /** The suspects that still have a warning by their past, which is read for all of them. @throws StoreUnavailableError */
  async #stillWarned(suspects: readonly Suspect[], look: Look): Promise<Suspect[]> {
    if (suspects.length === 0) return [];
    const at = this.context.nodeClock.monotonic();
    const read = await this.parts.runs.of(suspects.map(({ name }) => name));
    const pastOf = groupedBy(read, ({ semaphore }) => semaphore);
    const known = suspects.map((suspect) => ({ ...suspect, past: pastOf.get(suspect.name) ?? [] }));
    for (const { name, past } of known) this.#read.set(name, { past: past.map(newestOnly), at });
    return inSlices(this.#warned(known, look), this.context.nodeClock);
  }

  *#warned(suspects: readonly Suspect[], look: Look): Pieces<Suspect[]> {
    const warned: Suspect[] = [];
    for (const suspect of suspects) {
      yield 1;
      const warnings = yield* this.#warnings(suspect.name, suspect.record, suspect, look);
      if (warnings.length > 0) warned.push(suspect);
      // Its run came. The next one that seems to be missing is another one.
      if (!warnings.some(({ code }) => code === 'not-run')) this.#missingSince.delete(suspect.name);
    }
    return warned;
  }

  /** The warnings by what is in the store. @throws StoreUnavailableError */
  async #confirmed(suspect: Suspect, look: Look): Promise<WatchedWarning[]> {
    const { name } = suspect;
    const record = (await this.parts.listing.one(name)).get(name);
    this.#confirmedAt.set(name, this.context.nodeClock.monotonic());
    // The node that sweeps reports a record that can't be read.
    if (!record || record instanceof Error) return [];
    return inSlices(this.#warnings(name, record, suspect, look), this.context.nodeClock);
  }

  *#warnings(
    name: string,
    record: SemaphoreRecord,
    { jobs, past, trustsGrants = false }: Pick<SemaphoreFacts, 'jobs' | 'past' | 'trustsGrants'>,
    { nodes, heard, matches, now }: Look,
  ): Pieces<WatchedWarning[]> {
    const { node, clusterClock, timing } = this.context;
    const code = this.parts.declared.get(name);
    const state = semaphoreState(name, record, { node, now: clusterClock.earliest(), ...(code && { code }) });
    const intended = state.definition && intendedDefinition(state);
    if (!intended) return [];
    yield* compileInPieces([intended.groupPattern, intended.acquirerPattern]);
    const passing = yield* matches.of(intended);
    const { clockTolerance } = timing;
    const facts = { jobs, past, trustsGrants, now, heard, clockTolerance, nodes, passing };
    return warningsOf(state, intended, facts).filter(isWatched);
  }

  /** Adds a warning to those of its semaphore. */
  #take({ code, sentence }: WatchedWarning, semaphore: string, found: Map<string, Seen>): void {
    const key = keyOf({ code, semaphore });
    const same = found.get(key);
    const former = this.#seen.get(key);
    found.set(key, {
      code,
      semaphore,
      since: isLasting(former, sentence) ? former.since : this.#begin({ code, semaphore }),
      sentence: same ? `${same.sentence}; ${sentence}` : sentence,
      count: (same?.count ?? 0) + 1,
      told: former?.told ?? 0,
    });
  }

  /** When a warning that was not there at the former look began. */
  #begin({ code, semaphore }: Pick<JobWarning, 'code' | 'semaphore'>): number {
    const missingSince = code === 'not-run' ? this.#missingSince.get(semaphore) : undefined;
    return missingSince ?? this.context.nodeClock.monotonic();
  }

  #note(found: Map<string, Seen>): void {
    const now = this.context.nodeClock.monotonic();
    const ended = [...this.#seen.values()].filter((each) => each.told > 0 && !found.has(keyOf(each)));
    const begun = [...found.values()].filter(
      ({ code, count, told, since }) => count > told && now - since >= PATIENCE[code],
    );
    for (const each of begun) found.set(keyOf(each), { ...each, told: each.count });
    this.#seen = found;
    for (const code of WATCHED_CODES) {
      this.#tell('job-warning', code, begun);
      this.#tell('job-warning-ended', code, ended);
    }
  }

  /** After an outage all jobs were missed: one line tells of the rest. */
  #tell(type: 'job-warning' | 'job-warning-ended', code: WatchedCode, all: readonly Seen[]): void {
    const { events } = this.context;
    const some = all.filter((each) => each.code === code);
    for (const { semaphore, sentence } of some.slice(0, MOST_TOLD)) {
      const words = type === 'job-warning' ? `${sentence}. See why: gatekeeper explain ${word(semaphore)}` : ENDS[code];
      events.next({ type, code, semaphore, sentence: `${word(semaphore)}: ${words}` });
    }
    const rest = some.length - MOST_TOLD;
    if (rest > 0)
      events.next({ type, code, sentence: `${rest} more semaphores: ${type === 'job-warning' ? LIST : ENDS[code]}` });
  }
}

/** The entries of the nodes at one look. */
interface Look extends Pick<SemaphoreFacts, 'nodes' | 'heard' | 'now'> {
  readonly matches: NodeMatches;
}

/** A semaphore that seems to have a warning, with its jobs on living nodes. */
interface Suspect {
  readonly name: string;
  /** As it is in memory. */
  readonly record: SemaphoreRecord;
  readonly jobs: readonly ScheduledJob[];
  /** As it was read at this look; empty before that. */
  readonly past: readonly JobRuns[];
}

const LIST = 'the same, "gatekeeper status --warned" lists all of them';

const ENDS: Record<WatchedCode, string> = {
  'not-run': 'no run of its jobs is missing any more',
  'holder-silent': 'no permit of a holder that is not heard of is left',
};

function keyOf({ code, semaphore }: Pick<JobWarning, 'code' | 'semaphore'>): string {
  return `${code}\n${semaphore}`;
}

/**
 * A node with `heartbeat: 0` renews the permits that it holds. Then the sentence has another end of the permit, and the
 * holder was not silent from one look to the next.
 */
function isLasting(former: Seen | undefined, sentence: string): former is Seen {
  if (!former) return false;
  return former.told > 0 || former.code === 'not-run' || former.sentence.includes(sentence);
}

function isWatched(warning: Warning): warning is WatchedWarning {
  return (WATCHED_CODES as readonly Warning['code'][]).includes(warning.code);
}

/**
 * A past in which each job has its schedule and no run, so that all times at which it was due seem to be missed. Undefined
 * if only the stored past can tell: whether an interval was missed can only be seen by its last run.
 */
function assumedPast(semaphore: string, jobs: readonly ScheduledJob[]): readonly JobRuns[] | undefined {
  const scheduled = jobs.flatMap(({ card: { job, schedule } }) => (schedule ? [{ job, schedule }] : []));
  if (scheduled.some(({ schedule }) => schedule.kind === 'interval')) return undefined;
  return [...new Map(scheduled.map(({ job, schedule }) => [job, schedule.expression]))].map(([job, schedule]) => ({
    ...NO_RUNS,
    semaphore,
    job,
    schedule,
  }));
}

const NONE: RunStatistics = { ok: 0, failed: 0, lost: 0, crashed: 0 };
const NO_RUNS = { runs: [], running: [], failures: [], day: NONE, week: NONE, days: [] };

/** Only this part is needed to see whether there may be a warning. */
function newestOnly(past: JobRuns): JobRuns {
  return { ...past, ...NO_RUNS, runs: past.runs.slice(0, 1) };
}
