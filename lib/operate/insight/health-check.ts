import { STRICT_START } from '../../core/clock/index.js';
import type { CancelTimer } from '../../core/async/node-clock.js';
import { isStoreError } from '../../core/store/index.js';
import { type Context, timeOf } from '../../core/context/context.js';
import type { MaybeStale, StalePartName } from '../../core/context/stale.js';
import { answerWithin } from '../../core/store/answer-within.js';
import type { HealthFaultCode, UnreadableCounts, Health, ReceiverStatus } from './health-answers.js';
import { type HealthFacts, type ReadTimes, clusterTimeOf, healthReport, staleEntry } from './health-report.js';
import type { JobWarning } from './job-watch.js';
import type { FaultPart } from './leader-watch.js';
import { partsHealth } from './part-health.js';
import type { Recovery } from '../../core/context/recoveries.js';
import { KEY_PREFIX } from '../../core/decision/record.js';
import { SHARD_PREFIX, quoted } from '../../core/decision/index.js';
import { formatTime } from './format-duration.js';

/** The parts of a health that it has only if they are asked for. */
export interface HealthRequest {
  /** Whether the node counts the living nodes, unless it did so in the last 10 s. Default false. */
  readonly nodes?: boolean;
  /**
   * Whether the health lists the warnings, which name semaphores. A function selects the semaphores by their names. Default
   * false.
   */
  readonly warnings?: boolean | ((semaphore: string) => boolean);
}

/** A fresh reading, or the last known value with the reason why it could not be read. */
export interface Known<T> extends MaybeStale {
  readonly value: T;
}

/** ms for which a count of the nodes is current. */
const COUNTED = 10_000;
/** ms for which an answer of the store counts as proof that it is reachable. */
const FRESH = 1000;
/** Any key would do. This one belongs to the node registry, so the probe adds no key to the store. */
const PROBED_KEY = 'nodes:0';
/** ms after which a store without an answer counts as silent, even if other calls may take longer. */
const LONGEST_PATIENCE = 5000;

interface Counting {
  readonly unreadable: number;
}

/**
 * Parts that a report reads besides the store: the readers, which count entries that they left out, the shards, and the
 * archives.
 */
interface HealthParts extends Readonly<Record<Exclude<keyof UnreadableCounts, 'nodes'>, Counting>> {
  readonly shards: { readonly fault?: HealthFacts['shards'] };
  readonly listing: { readonly readAt: number | undefined };
  /** The past of the jobs. */
  readonly past: { readonly readAt: number | undefined };
  readonly nodes: Counting & { readonly known: readonly unknown[]; nodes(): Promise<unknown> };
  readonly archive?: { readonly failures: HealthFacts['archive'] } | undefined;
  readonly runArchive?: { readonly failures: HealthFacts['archive'] } | undefined;
  readonly follower: { readonly removed: HealthFacts['removed']; readonly stuck: HealthFacts['unfollowed'] };
  readonly code: { readonly faults: HealthFacts['unfollowed'] };
  readonly jobs: { warnings(isWanted: (semaphore: string) => boolean): readonly JobWarning[] };
  readonly leaders: { readonly faults: HealthFacts['leaderless'] };
  readonly applications: { readonly faults: HealthFacts['otherApplications'] };
  readonly allocation: { readonly unowned: HealthFacts['unowned']; readonly failing: HealthFacts['failingGroups'] };
  /** Returns undefined without the option `alerts`. */
  readonly alerts: () =>
    { readonly faults: HealthFacts['undelivered']; readonly receivers: readonly ReceiverStatus[] } | undefined;
}

/** Checks whether the store answers, and combines all facts in one report. */
export class HealthCheck {
  /** When each fault of the last report was first seen, in the node's monotonic ms. */
  #known = new Map<HealthFaultCode, number>();
  #probing?: Promise<void>;

  constructor(
    private readonly context: Context,
    private readonly parts: HealthParts,
  ) {}

  /** Reports without asking the store. */
  report(wanted: HealthRequest['warnings'] = true): Health {
    const { node, store, clusterClock } = this.context;
    const facts = this.#facts();
    const report = healthReport(facts);
    const seen = report.faults.map(({ code }) => [code, this.#known.get(code) ?? facts.monotonic] as const);
    this.#known = new Map(seen);
    const known = { node, store: store.health(), clock: clusterClock.report(), unreadable: facts.unreadable };
    return { ...known, ...this.#more(facts), ...this.#warnings(facts, wanted), ...report };
  }

  #more(facts: HealthFacts): Pick<Health, 'latency' | 'parts' | 'nodes' | 'hasArchive' | 'alerts'> {
    const { latency } = this.context.store;
    const countedAt = facts.calls('nodes').answeredAt;
    const alerts = this.parts.alerts()?.receivers;
    return {
      ...(latency !== undefined && { latency: Math.round(latency * 10) / 10 }),
      parts: partsHealth(facts),
      ...(countedAt !== undefined && {
        nodes: { count: this.parts.nodes.known.length, asOf: clusterTimeOf(countedAt, facts) },
      }),
      hasArchive: this.parts.archive !== undefined,
      ...(alerts && { alerts }),
    };
  }

  #warnings(facts: HealthFacts, wanted: boolean | ((semaphore: string) => boolean)): Pick<Health, 'warnings'> {
    const found = this.parts.jobs.warnings(typeof wanted === 'function' ? wanted : () => wanted);
    if (found.length === 0) return {};
    const warnings = found.map(({ code, semaphore, since, sentence }) => ({
      code,
      semaphore,
      since: clusterTimeOf(since, facts),
      sentence,
    }));
    return { warnings };
  }

  /** Asks the store, unless it has just answered, and then reports. Takes at most 5 s. Never rejects. */
  async check({ nodes = false, warnings = false }: HealthRequest = {}): Promise<Health> {
    // The report shows a failure.
    await Promise.allSettled([this.#probe(), nodes && this.#countNodes()]);
    return this.report(warnings);
  }

  async #countNodes(): Promise<void> {
    const { store, timers, nodeClock } = this.context;
    const { answeredAt = -Infinity } = store.calls('nodes');
    if (store.calls('reads').failing || nodeClock.monotonic() - answeredAt < COUNTED) return;
    await answerWithin(timers, this.#patience, 'list the nodes', () => this.parts.nodes.nodes());
  }

  /**
   * Reads one part of an answer for people. If the store does not answer, returns the last known value.
   *
   * @param read asks the store
   * @param recall returns the last known value
   * @throws any other error of `read`
   */
  async read<T, K = T>(
    part: StalePartName,
    read: () => Promise<T>,
    recall: () => K | Promise<K>,
  ): Promise<Known<T | K>> {
    try {
      await this.#probe();
      return { value: await this.#unlessSilent(read()) };
    } catch (error) {
      if (!isStoreError(error)) throw error;
      const value = await recall();
      const readAt = this.#readTimes();
      return { value, stale: [staleEntry(part, error.message, { ...this.#moment(), readAt })] };
    }
  }

  /**
   * Expects that the store answers now. For an answer for people that needs no call to the store at this moment: an empty one
   * must not look like the truth during an outage.
   *
   * @throws StoreUnavailableError
   */
  expectAnswer(): Promise<void> {
    return this.#probe();
  }

  /** To read a list may take long. If the store freezes meanwhile, a probe ends the wait early. */
  async #unlessSilent<T>(reading: Promise<T>): Promise<T> {
    let cancel: CancelTimer | undefined;
    const silence = new Promise<never>((_resolve, reject) => {
      cancel = this.context.nodeClock.schedule(() => void this.#probe().catch(reject), FRESH);
    });
    return Promise.race([reading, silence]).finally(cancel);
  }

  /** Without the audit log, of which a node keeps nothing. */
  #readTimes(): ReadTimes {
    const { listing, past } = this.parts;
    return { records: listing.readAt, nodes: this.context.store.calls('nodes').answeredAt, runs: past.readAt };
  }

  /** @throws StoreUnavailableError */
  #probe(): Promise<void> {
    const { answeredAt = -Infinity, failing } = this.context.store.calls('reads');
    const isFresh =
      !failing && this.context.nodeClock.monotonic() - answeredAt < FRESH && this.context.store.health().connected;
    if (isFresh && !this.#isClockFailing) return Promise.resolve();
    this.#probing ??= this.#ask().finally(() => (this.#probing = undefined));
    return this.#probing;
  }

  async #ask(): Promise<void> {
    const { store } = this.context;
    const reading = store.records.read(PROBED_KEY, { timeout: this.#patience });
    await Promise.all([reading, this.#isClockFailing && this.#readClock()]);
  }

  /**
   * The clock's own next attempt may come much later, for example if its first attempt was made before the first
   * connection.
   */
  get #isClockFailing(): boolean {
    const { store, clusterClock } = this.context;
    return !clusterClock.isFresh && store.calls('clock').failing !== undefined;
  }

  async #readClock(): Promise<void> {
    const { timers, clusterClock } = this.context;
    // A round has several readings, each of which may take as long as a call. The report shows a failure.
    await answerWithin(timers, this.#patience, 'return its time', () => clusterClock.sample()).catch(() => undefined);
  }

  get #patience(): number {
    return Math.min(this.context.timing.callTimeout, LONGEST_PATIENCE);
  }

  /** The parts of faults that several subjects may have at once. Does not ask the store. */
  faultParts(): Partial<Record<HealthFaultCode, readonly FaultPart[]>> {
    const { leaders, allocation, applications } = this.parts;
    const moment = this.#moment();
    const timed = (parts: readonly FaultPart[]) =>
      parts.map((part) => ({ ...part, since: clusterTimeOf(part.since, moment) }));
    return {
      'no-leader': timed(leaders.faults),
      'resources-unowned': timed(allocation.unowned),
      'other-application': timed(applications.faults),
    };
  }

  #moment(): Pick<HealthFacts, 'now' | 'monotonic'> {
    return { now: timeOf(this.context), monotonic: this.context.nodeClock.monotonic() };
  }

  #facts(): HealthFacts {
    const { store, clusterClock, isClosing } = this.context;
    const { runs, audit, nodes } = this.parts;
    const { suspect } = clusterClock.report();
    return {
      ...this.#moment(),
      patience: this.#patience,
      isClosing: isClosing(),
      store: store.health(),
      calls: (part) => store.calls(part),
      clock: { isFresh: clusterClock.isFresh, ...(suspect !== STRICT_START && { suspect }) },
      recovering: recoveryFaults(this.context),
      removed: this.parts.follower.removed,
      unfollowed: [...this.parts.code.faults, ...this.parts.follower.stuck],
      readAt: this.#readTimes(),
      shards: this.parts.shards.fault,
      archive: this.parts.archive?.failures ?? [],
      runArchive: this.parts.runArchive?.failures ?? [],
      leaderless: this.parts.leaders.faults,
      unowned: this.parts.allocation.unowned,
      failingGroups: this.parts.allocation.failing,
      otherApplications: this.parts.applications.faults,
      undelivered: this.parts.alerts()?.faults ?? [],
      unreadable: { runs: runs.unreadable, audit: audit.unreadable, nodes: nodes.unreadable },
      known: this.#known,
    };
  }
}

/** The graces after lost data, while they last: all else may look well then, although nothing new runs. */
function recoveryFaults(
  context: Pick<Context, 'recoveries' | 'clusterClock' | 'nodeClock'>,
): HealthFacts['recovering'] {
  const current = context.recoveries.current();
  if (current.length === 0) return [];
  const ofShards = current.filter(({ key }) => key.startsWith(SHARD_PREFIX));
  const ofSemaphores = current.filter(({ key }) => !key.startsWith(SHARD_PREFIX));
  const end = (some: readonly Recovery[]) => formatTime(timeOf(context) + Math.max(...some.map(({ left }) => left)));
  const parts = [];
  if (ofSemaphores.length > 0) {
    parts.push(`only former holders of ${namesOf(ofSemaphores)} go on, until ${end(ofSemaphores)} at the latest`);
  }
  if (ofShards.length > 0) {
    parts.push(
      'only former holders of names without a definition go on, and definitions that are new in the code wait, ' +
        `until ${end(ofShards)} at the latest`,
    );
  }
  const since = Math.min(...current.map((each) => each.since));
  return [{ since, sentence: `the store lost data, or may have: ${parts.join('; ')}` }];
}

function namesOf([first, ...others]: readonly Recovery[]): string {
  const name = quoted(first!.key.slice(KEY_PREFIX.length));
  return others.length === 0 ? name : `${name} and ${others.length} more`;
}
