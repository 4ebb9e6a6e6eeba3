import type { Attributes, Meter } from '@opentelemetry/api';

/** Attributes of metrics and spans. */
export const ATTRIBUTES = {
  semaphore: 'gatekeeper.semaphore.name',
  job: 'gatekeeper.job.name',
  acquirer: 'gatekeeper.acquirer',
  token: 'gatekeeper.permit.token',
  slot: 'gatekeeper.permit.slot',
  permit: 'gatekeeper.permit.id',
  outcome: 'gatekeeper.outcome',
  denial: 'gatekeeper.denial.reason',
  skip: 'gatekeeper.skip.reason',
  loss: 'gatekeeper.loss.reason',
  end: 'gatekeeper.leadership.end',
  scope: 'gatekeeper.leadership.scope',
  group: 'gatekeeper.allocation.group',
  change: 'gatekeeper.change',
  part: 'gatekeeper.store.part',
  task: 'gatekeeper.task.type',
  attempt: 'gatekeeper.task.token',
  fault: 'gatekeeper.fault.code',
  error: 'error.type',
} as const;

const A = ATTRIBUTES;

/** Bounds in s of calls of the store. */
const CALLS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
/** Bounds in s of the application's work. */
const WORK = [0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 900, 1800, 3600, 14_400];

type Kind = 'counter' | 'up-down counter' | 'gauge' | 'histogram';

export interface Metric {
  readonly kind: Kind;
  readonly name: string;
  /** In UCUM. */
  readonly unit: string;
  readonly attributes: readonly string[];
  readonly description: string;
  /** Upper bounds of a histogram's buckets. */
  readonly bounds?: readonly number[];
}

const counter = (name: string, unit: string, attributes: readonly string[], description: string) =>
  ({ kind: 'counter', name, unit, attributes, description }) as const;
const sum = (name: string, unit: string, attributes: readonly string[], description: string) =>
  ({ kind: 'up-down counter', name, unit, attributes, description }) as const;
const gauge = (name: string, unit: string, attributes: readonly string[], description: string) =>
  ({ kind: 'gauge', name, unit, attributes, description }) as const;
const histogram = (name: string, bounds: readonly number[], attributes: readonly string[], description: string) =>
  ({ kind: 'histogram', name, unit: 's', bounds, attributes, description }) as const;

/** All metrics. */
export const METRICS = {
  attempts: counter('gatekeeper.acquire.attempts', '{attempt}', [A.semaphore], 'calls for a permit'),
  denials: counter('gatekeeper.acquire.denials', '{attempt}', [A.semaphore, A.denial], 'calls that got no permit'),
  acquireDuration: histogram(
    'gatekeeper.acquire.duration',
    CALLS,
    [A.semaphore, A.outcome],
    'time of a call for a permit, with its waiting',
  ),
  grants: counter('gatekeeper.permit.grants', '{permit}', [A.semaphore], 'permits that this node got'),
  refreshes: counter('gatekeeper.permit.refreshes', '{refresh}', [A.semaphore], 'refreshes of permits'),
  releases: counter('gatekeeper.permit.releases', '{permit}', [A.semaphore], 'permits that were given back'),
  losses: counter('gatekeeper.permit.losses', '{permit}', [A.semaphore, A.loss], 'permits lost while they were in use'),
  held: sum('gatekeeper.permit.count', '{permit}', [A.semaphore], 'permits that this node holds'),
  runDuration: histogram(
    'gatekeeper.run.duration',
    WORK,
    [A.semaphore, A.job, A.outcome, A.error],
    "time of a run's work",
  ),
  activeRuns: sum('gatekeeper.run.active', '{run}', [A.semaphore, A.job], 'runs that go on'),
  skips: counter('gatekeeper.run.skips', '{run}', [A.semaphore, A.job, A.skip], 'runs that were skipped'),
  unguarded: counter(
    'gatekeeper.run.unguarded',
    '{run}',
    [A.semaphore, A.job],
    "runs without a permit (onUnavailable: 'run')",
  ),
  clockOffset: gauge('gatekeeper.clock.offset', 's', [], "cluster time minus this node's wall clock"),
  clockSpread: gauge('gatekeeper.clock.spread', 's', [], "difference of the store members' clocks"),
  clockSuspicions: counter('gatekeeper.clock.suspicions', '{event}', [], 'signs of wrong clocks'),
  storeDuration: histogram(
    'gatekeeper.store.operation.duration',
    CALLS,
    [A.part, A.error],
    'time of a call of the store',
  ),
  storeMembers: gauge('gatekeeper.store.member.count', '{member}', [], 'members of the store that this node sees'),
  storeOutages: counter('gatekeeper.store.outages', '{event}', [], 'outages of the store, as this node saw them'),
  grantsPermits: gauge('gatekeeper.health.grants', '{node}', [], '1 if permits are granted through this node, else 0'),
  faults: gauge('gatekeeper.health.fault', '{fault}', [A.fault], '1 while the fault lasts, then 0'),
  memberChanges: counter('gatekeeper.member.changes', '{event}', [A.change], 'changes of the participants'),
  terms: counter('gatekeeper.leadership.terms', '{term}', [A.scope], 'terms of leadership of this node'),
  termEnds: counter('gatekeeper.leadership.ends', '{term}', [A.scope, A.end], 'ends of its terms'),
  leading: gauge('gatekeeper.leadership.leading', '{node}', [A.scope], '1 if this node leads the scope, else 0'),
  owned: sum('gatekeeper.allocation.resource.count', '{resource}', [A.group], 'resources that this node owns'),
  moves: counter('gatekeeper.allocation.moves', '{resource}', [A.group, A.change], 'resources that it got or lost'),
  submitted: counter('gatekeeper.task.submitted', '{task}', [A.task, A.outcome], 'submissions of tasks'),
  taskDuration: histogram(
    'gatekeeper.task.duration',
    WORK,
    [A.task, A.outcome, A.error],
    'time of an attempt at a task',
  ),
  activeTasks: sum('gatekeeper.task.active', '{task}', [A.task], 'tasks that this node works on'),
  completed: counter('gatekeeper.task.completed', '{task}', [A.task], 'tasks that were completed'),
  failed: counter('gatekeeper.task.failed', '{attempt}', [A.task], 'attempts that failed'),
  dead: counter('gatekeeper.task.dead', '{task}', [A.task, A.outcome], 'tasks that ended as dead letters'),
  crashes: counter('gatekeeper.task.crashes', '{attempt}', [A.task], 'attempts whose lease ended without a note'),
  backlog: gauge('gatekeeper.task.backlog', '{task}', [A.task], 'tasks that wait, as the sweeping node counted them'),
} as const satisfies Record<string, Metric>;

type Metrics = typeof METRICS;
type NameOf<K extends Kind> = { [N in keyof Metrics]: Metrics[N]['kind'] extends K ? N : never }[keyof Metrics];

/** Adds to a counter, or records a value of a histogram. */
export type RecordValue = (metric: NameOf<'counter' | 'histogram'>, value: number, attributes?: Attributes) => void;

/** Counters and histograms, by their names here. They are made on their first use. */
export function recorder(meter: Meter): RecordValue {
  const made = new Map<string, (value: number, attributes?: Attributes) => void>();
  const make = (metric: Metric) => {
    const { name, kind, unit, description, bounds } = metric;
    if (kind !== 'histogram') {
      const added = meter.createCounter(name, { unit, description });
      return added.add.bind(added);
    }
    const advice = { explicitBucketBoundaries: [...(bounds ?? [])] };
    const recorded = meter.createHistogram(name, { unit, description, advice });
    return recorded.record.bind(recorded);
  };
  return (metric, value, attributes) => {
    let record = made.get(metric);
    if (!record) made.set(metric, (record = make(METRICS[metric])));
    record(value, attributes);
  };
}

/** Values of gauges, read at a collection. */
export type Observe = (metric: NameOf<'gauge' | 'up-down counter'>, value: number, attributes?: Attributes) => void;

/**
 * Calls `read` at each collection.
 *
 * @returns a function that ends it
 */
export function observeAll(meter: Meter, read: (observe: Observe) => void): () => void {
  const observed = Object.entries<Metric>(METRICS).flatMap(([key, { kind, name, unit, description }]) => {
    if (kind === 'gauge') return [[key, meter.createObservableGauge(name, { unit, description })] as const];
    if (kind === 'up-down counter') {
      return [[key, meter.createObservableUpDownCounter(name, { unit, description })] as const];
    }
    return [];
  });
  const gauges = new Map<string, (typeof observed)[number][1]>(observed);
  const callback: Parameters<Meter['addBatchObservableCallback']>[0] = (result) =>
    read((metric, value, attributes) => result.observe(gauges.get(metric)!, value, attributes));
  const all = [...gauges.values()];
  meter.addBatchObservableCallback(callback, all);
  return () => meter.removeBatchObservableCallback(callback, all);
}
