import type { ObservedNode } from '../gatekeeper/telemetry.js';
import type { ActiveWork } from './active-work.js';
import type { Labels } from './labels.js';
import { ATTRIBUTES as A, type Observe } from './metrics.js';

/** ms after which a backlog is no longer reported: another node sweeps the tasks. */
const FRESH = 60_000;

/** The present values of a node, for a collection. Asks no store. */
export class Gauges {
  readonly #held = new Map<string, number>();
  readonly #faults = new Set<string>();
  readonly #backlog = new Map<string, number>();
  #countedAt = -Infinity;

  constructor(
    private readonly node: ObservedNode,
    private readonly labels: Labels,
    private readonly active: { readonly runs: ActiveWork; readonly tasks: ActiveWork },
  ) {}

  /** @param waiting numbers of tasks by type */
  count(waiting: ReadonlyMap<string, number>): void {
    this.#countedAt = this.node.monotonic();
    replace(this.#backlog, waiting, (type) => this.labels.task(type));
  }

  observe(observe: Observe): void {
    this.#observeHealth(observe);
    replace(this.#held, this.node.held(), (name) => this.labels.semaphore(name));
    for (const [name, count] of this.#held) observe('held', count, { [A.semaphore]: name });
    for (const { attributes, count } of this.active.runs.counts) observe('activeRuns', count, attributes);
    for (const { attributes, count } of this.active.tasks.counts) observe('activeTasks', count, attributes);
    for (const [scope, leads] of this.node.leading()) observe('leading', Number(leads), { [A.scope]: scope });
    for (const [group, count] of this.node.owned()) observe('owned', count, { [A.group]: group });
    if (this.node.monotonic() - this.#countedAt > FRESH) return;
    for (const [type, count] of this.#backlog) observe('backlog', count, { [A.task]: type });
  }

  #observeHealth(observe: Observe): void {
    const { clock, store, grants, faults } = this.node.health();
    if (clock.offset !== undefined) observe('clockOffset', clock.offset / 1000);
    observe('clockSpread', clock.spread / 1000);
    observe('storeMembers', store.members);
    observe('grantsPermits', Number(grants));
    const present = new Set(faults.map(({ code }) => code as string));
    for (const code of present) this.#faults.add(code);
    for (const code of this.#faults) observe('faults', Number(present.has(code)), { [A.fault]: code });
  }
}

/** Takes over new values. A label without a value stays with 0, so that its time series does not end with the last value. */
function replace(known: Map<string, number>, values: ReadonlyMap<string, number>, label: (name: string) => string) {
  for (const name of known.keys()) known.set(name, 0);
  for (const [name, value] of values) {
    const labelled = label(name);
    known.set(labelled, (known.get(labelled) ?? 0) + value);
  }
}
