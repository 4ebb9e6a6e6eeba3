import type { Subscription } from 'rxjs';
import { Periodic } from '../../core/async/periodic.js';
import type { RunEntry } from '../activity/index.js';
import { type Context, timeOf } from '../../core/context/context.js';
import type { Alert } from '../../core/context/alert.js';
import type { EventOf, GatekeeperEvent } from '../../core/context/events.js';
import { isCurrent } from '../../core/context/stale.js';
import type { HealthReport, Overview, ReceiverStatus, RequestResult } from '../insight/index.js';
import { OWN_KINDS, type Condition, idOf, keyOf } from './alert.js';
import type { AlertsSettings } from './alerts-options.js';
import { type FaultParts, clusterConditions, failedRun, healthConditions, isPast, jobOf } from './conditions.js';
import type { AlertsMessage } from './message.js';
import { MOST_OPEN, OpenAlerts } from './open-alerts.js';
import { type Post, postByFetch } from './post.js';
import { Webhook } from './webhook.js';
import { SweepPermit } from '../../core/permits/sweep-permit.js';

/** ms between two looks at this node's health. It asks the store only while there is a trouble. */
const LOOK = 2000;
/** ms between two requests for the turn to report a fault of the health. */
const CLAIM = 10_000;
/** ms between two looks at all semaphores, by one node of the cluster. */
const WATCH = 30_000;
/** ms that a shutdown waits for requests under way. */
const FLUSH = 2000;

/** The parts of a node that alerts read. */
interface AlertParts {
  /** Does not ask the store. */
  readonly health: () => HealthReport;
  /** The parts of faults that several scopes or groups may have at once. */
  readonly faultParts: () => FaultParts;
  readonly overview: () => Promise<Overview>;
  /** The newest run of each job. */
  readonly newestRuns: () => Promise<readonly RunEntry[]>;
}

interface Failure {
  readonly semaphore: string;
  readonly job: string;
  /** Cluster time, ms since the epoch. */
  readonly at: number;
}

/**
 * Reports troubles to webhooks, one node per trouble if the store can agree on it.
 *
 * | trouble                          | node that reports it                                             |
 * | -------------------------------- | ---------------------------------------------------------------- |
 * | a failed run                     | the node of the run                                              |
 * | crashed, missed and overdue runs | one node with this option, which has the turn `jobs`             |
 * | a fault that several nodes see   | the first of the nodes that see it, which has the turn of the fault |
 * | the store, or its quorum, is lost | each node for itself                                             |
 */
export class Alerts {
  readonly #webhooks: readonly Webhook[];
  readonly #open: OpenAlerts;
  readonly #periodics: readonly Periodic[];
  readonly #jobsTurn: Turn;
  /** By the key of the fault. */
  readonly #turns = new Map<string, Turn>();
  /** The troubles of the latest look at the health, and at the semaphores. */
  #inHealth: readonly Condition[] = [];
  #inCluster: Condition[] = [];
  /** The last failure here of each job whose failure this node reports, by the trouble's key. */
  readonly #failures = new Map<string, Failure>();
  #subscription?: Subscription;

  constructor(
    private readonly context: Context,
    private readonly settings: AlertsSettings,
    private readonly parts: AlertParts,
    post: Post = postByFetch,
  ) {
    this.#open = new OpenAlerts(context.node, context.nodeClock, settings);
    const messageWith = (alerts: readonly Alert[], type: AlertsMessage['type']) => this.#message(alerts, type);
    this.#webhooks = settings.webhooks.map((webhook) => new Webhook(webhook, context, post, messageWith));
    this.#jobsTurn = new Turn(context, 'jobs', WATCH);
    this.#periodics = [
      this.#repeat('look for troubles', LOOK, () => this.#look()),
      this.#repeat('look for troubles of jobs', WATCH, () => this.#watch()),
    ];
  }

  /** The receivers with their last results. */
  get receivers(): readonly ReceiverStatus[] {
    return this.#webhooks.map(({ status }) => status);
  }

  /** The receivers that got no alert, for the health. */
  get faults(): readonly { readonly since: number; readonly sentence: string }[] {
    return this.#webhooks.flatMap(({ fault }) => fault ?? []);
  }

  start(): void {
    this.#subscription = this.context.events.subscribe((event) => this.#observe(event));
    for (const periodic of this.#periodics) periodic.start();
  }

  /** Sends a test to all receivers at once. Never rejects. */
  test(): Promise<(RequestResult & Pick<ReceiverStatus, 'name'>)[]> {
    return Promise.all(
      this.#webhooks.map(async (webhook) => ({ name: webhook.status.name, ...(await webhook.test()) })),
    );
  }

  /** Waits up to 2 s for alerts that are on their way. */
  async close(): Promise<void> {
    this.#subscription?.unsubscribe();
    for (const periodic of this.#periodics) periodic.stop();
    const turns = [this.#jobsTurn, ...this.#turns.values()].map((turn) => turn.close());
    await Promise.all([...turns, ...this.#webhooks.map((webhook) => webhook.close(FLUSH))]);
  }

  #observe(event: GatekeeperEvent): void {
    if (event.type !== 'run-finished') return;
    if ('error' in event) this.#failed(event);
    // A job whose run lost its permit still fails. The node with the turn for jobs reports the loss.
    else if (event.loss === undefined) this.#endRun(event);
    this.#send();
  }

  #failed(event: EventOf<'run-finished'>): void {
    const { semaphore, job } = event;
    const at = timeOf(this.context);
    const condition = failedRun(event, this.context.node.acquirer, at);
    this.#open.occur(condition);
    if (this.#open.has(condition)) this.#failures.set(keyOf(condition), { semaphore, job, at });
  }

  #endRun(job: { readonly semaphore: string; readonly job: string }): void {
    const trouble = jobOf(job);
    this.#failures.delete(keyOf(trouble));
    this.#open.end(trouble);
  }

  async #look(): Promise<void> {
    const report = this.parts.health();
    const conditions = healthConditions(report, this.settings.pendingPeriod, this.parts.faultParts());
    const keys = new Set(conditions.map(keyOf));
    for (const condition of conditions) await this.#lasts(condition, report.grants);
    for (const condition of this.#inHealth) if (!keys.has(keyOf(condition))) await this.#ended(condition);
    this.#inHealth = conditions;
    this.#send();
  }

  async #lasts(condition: Condition, grants: boolean): Promise<void> {
    if (OWN_KINDS.has(condition.kind)) return this.#open.last(condition);
    // The store can't agree now: a trouble that is known stays as it is.
    if (!grants) return;
    const isMine = await this.#turnOf(condition).take();
    if (isMine === false) this.#open.forget(condition);
    if (isMine === true) this.#open.last(condition);
  }

  async #ended(condition: Condition): Promise<void> {
    this.#open.end(condition);
    const turn = this.#turns.get(keyOf(condition));
    this.#turns.delete(keyOf(condition));
    await turn?.close();
  }

  #turnOf(condition: Condition): Turn {
    const turn = this.#turns.get(keyOf(condition)) ?? new Turn(this.context, idOf(condition), CLAIM);
    this.#turns.set(keyOf(condition), turn);
    return turn;
  }

  /** Looks at all semaphores, if it is this node's turn, and at the failed runs that this node reports. */
  async #watch(): Promise<void> {
    if (!this.parts.health().grants) return;
    const isMine = await this.#jobsTurn.take();
    if (isMine === false) for (const condition of this.#inCluster.splice(0)) this.#open.forget(condition);
    if (isMine !== true && this.#failures.size === 0) return;
    const runs = await this.parts.newestRuns();
    this.#endFailures(runs);
    if (isMine === true) await this.#watchSemaphores(runs);
    this.#send();
  }

  /** A job that failed here may have succeeded on another node, or may not run again. */
  #endFailures(runs: readonly RunEntry[]): void {
    for (const run of runs) {
      const failure = this.#failures.get(keyOf(jobOf(run)));
      if (failure && run.outcome === 'ok' && run.at > failure.at) this.#endRun(run);
    }
    const now = timeOf(this.context);
    for (const failure of this.#failures.values()) {
      if (isPast(failure.at, now) || !this.#open.has(jobOf(failure))) this.#endRun(failure);
    }
  }

  async #watchSemaphores(runs: readonly RunEntry[]): Promise<void> {
    const overview = await this.parts.overview();
    // Data that could not be read show neither the begin nor the end of a trouble.
    if (!isCurrent(overview)) return;
    const { semaphores, now } = overview;
    const conditions = clusterConditions(semaphores, runs, now);
    for (const condition of conditions) this.#open.last(condition);
    const reported = new Set([...conditions.map(keyOf), ...this.#failures.keys()]);
    // The node of a failed run reports it under the same id. The end of an earlier crash must not resolve it.
    const failed = new Set(runs.filter(({ outcome }) => outcome === 'failed').map((run) => keyOf(jobOf(run))));
    for (const condition of this.#inCluster.filter((each) => !reported.has(keyOf(each)))) {
      if (failed.has(keyOf(condition))) this.#open.forget(condition);
      else this.#open.end(condition);
    }
    this.#inCluster = conditions;
  }

  #send(): void {
    const { events } = this.context;
    const alerts = this.#open.due(timeOf(this.context));
    for (const alert of alerts) events.next({ type: 'alert', alert });
    if (alerts.length > 0) for (const webhook of this.#webhooks) webhook.send(alerts);
    const leftOut = this.#open.takeLeftOut();
    if (leftOut === 0) return;
    const problem = `more than ${MOST_OPEN} troubles of jobs at once`;
    events.next({ type: 'alerts-undelivered', receiver: 'all', count: leftOut, problem });
  }

  #message(alerts: readonly Alert[], type: AlertsMessage['type']): AlertsMessage {
    const { cluster } = this.settings;
    const timestamp = new Date(timeOf(this.context)).toISOString();
    return { type, timestamp, data: { ...(cluster !== undefined && { cluster }), node: this.context.node, alerts } };
  }

  #repeat(action: string, interval: number, work: () => Promise<void>): Periodic {
    const { nodeClock, random, events } = this.context;
    const onError = (error: unknown) => events.next({ type: 'problem', action, error });
    return new Periodic(nodeClock, work, { interval: () => interval, chance: random.number, onError });
  }
}

/** Lets one node of the cluster report troubles that several nodes see, as a permit of a hidden semaphore. */
class Turn {
  readonly #permit: SweepPermit;
  #askedAt = -Infinity;
  #answer: boolean | undefined;

  /**
   * @param kind name of the troubles that share this turn
   * @param interval ms between two requests for the permit, which lasts 2.5 times as long
   */
  constructor(
    private readonly context: Context,
    kind: string,
    private readonly interval: number,
  ) {
    this.#permit = new SweepPermit(context, interval, `gatekeeper:alerts:${kind}`);
  }

  /** @returns whether it is this node's turn; undefined if the store can't be asked */
  async take(): Promise<boolean | undefined> {
    const now = this.context.nodeClock.monotonic();
    if (now - this.#askedAt >= this.interval) {
      this.#askedAt = now;
      // The health reports a store that can't be asked.
      this.#answer = await this.#permit.take().catch(() => undefined);
    }
    return this.#permit.isHeld || (this.#answer ? undefined : this.#answer);
  }

  /** Lets another node take the turn at once. */
  close(): Promise<void> {
    return this.#permit.close();
  }
}
