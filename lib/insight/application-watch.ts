import type { LivingNodes, NodeCode, NodeInfo, NodeRegistry } from '../activity/index.js';
import { Periodic } from '../async/periodic.js';
import { type Pieces, inSlices } from '../async/slices.js';
import type { Context } from '../context/context.js';
import type { DeclaredDefinitions } from '../definitions/index.js';
import { ALLOCATION_SCOPE } from '../allocation/index.js';
import { LEADER_PREFIX, TASK_PREFIX, listed, word } from '../decision/index.js';
import { isStoreError } from '../stores/index.js';
import type { FaultPart } from './leader-watch.js';

/** ms between two looks right after the start, when another application may start as well. */
const FIRST_INTERVAL = 5000;
/** ms after the start with such looks. */
const FIRST = 60_000;
/** ms between two looks later. */
const INTERVAL = 60_000;

/** All groups of allocation share this scope, and its leader decides only for groups that it has. */
const SHARED = LEADER_PREFIX + ALLOCATION_SCOPE;

/** Another application that uses names of this one. */
export interface OtherApplication {
  /** Its name, from its option `application`. */
  readonly application: string;
  /** The names that both use, sorted: of semaphores, "leader:" and a scope, or "task:" and a type. */
  readonly names: readonly string[];
  /** Its nodes, by their acquirers. */
  readonly nodes: readonly string[];
}

/** This node's application, and the names that it uses. */
export interface OwnNames {
  readonly application: string;
  /** Of semaphores, "leader:" and a scope, or "task:" and a type. */
  readonly names: ReadonlySet<string>;
}

/** The part of a node's entry that says which names it uses. */
export interface NodeNames {
  readonly node: Pick<NodeInfo, 'application' | 'acquirer' | 'jobs' | 'tasks'>;
  readonly fingerprintOf: NodeCode['fingerprintOf'];
}

/** Finds the applications whose nodes use the same names as this node. A node without a name of its application is left out. */
export function* otherApplications(own: OwnNames, nodes: readonly NodeNames[]): Pieces<OtherApplication[]> {
  const found = new Map<string, { readonly names: Set<string>; readonly nodes: Set<string> }>();
  for (const { node, fingerprintOf } of nodes) {
    const { application, acquirer } = node;
    if (application === undefined || application === own.application) continue;
    yield own.names.size;
    const used = namesOf(node);
    const shared = [...own.names].filter(
      (name) => name !== SHARED && (used.has(name) || fingerprintOf(name) !== undefined),
    );
    if (shared.length === 0) continue;
    const other = found.get(application) ?? { names: new Set(), nodes: new Set() };
    for (const name of shared) other.names.add(name);
    found.set(application, { ...other, nodes: other.nodes.add(acquirer) });
  }
  return [...found].toSorted(byKey).map(([application, { names, nodes: acquirers }]) => ({
    application,
    names: [...names].toSorted(),
    nodes: [...acquirers].toSorted(),
  }));
}

function byKey([one]: readonly [string, unknown], [other]: readonly [string, unknown]): number {
  return one < other ? -1 : 1;
}

function namesOf({ jobs, tasks = [] }: Pick<NodeInfo, 'jobs' | 'tasks'>): Set<string> {
  const semaphores = jobs.flatMap(({ semaphore }) => semaphore ?? []);
  const types = tasks.flatMap(({ type, handles }) => (handles === 'programs' ? [] : TASK_PREFIX + type));
  return new Set([...semaphores, ...types]);
}

/** Says, once each time, that another application on this store uses names of this one. */
export class ApplicationWatch {
  #faults = new Map<string, FaultPart>();
  #startedAt = 0;
  readonly #periodic: Periodic;

  /** @param application the name of this one; undefined: there is nothing to compare */
  constructor(
    private readonly application: string | undefined,
    private readonly registry: Pick<NodeRegistry, 'jobs' | 'tasks'>,
    private readonly living: Pick<LivingNodes, 'read'>,
    private readonly declared: Pick<DeclaredDefinitions, 'all'>,
    private readonly context: Context,
  ) {
    this.#periodic = new Periodic(context.nodeClock, () => this.#look(), {
      interval: () => (context.nodeClock.monotonic() < this.#startedAt + FIRST ? FIRST_INTERVAL : INTERVAL),
      chance: context.random.number,
      onError: (error) => this.#report(error),
    });
  }

  /** The nodes of all applications must publish themselves, or there is nothing to see. */
  start(): void {
    this.#startedAt = this.context.nodeClock.monotonic();
    this.#periodic.start();
  }

  stop(): void {
    this.#periodic.stop();
  }

  /** One fault per other application. */
  get faults(): readonly FaultPart[] {
    return [...this.#faults.values()];
  }

  async #look(): Promise<void> {
    const { application } = this;
    if (application === undefined) return;
    const nodes = await this.living.read();
    const { nodeClock, events } = this.context;
    const names = namesOf({ jobs: [...this.registry.jobs()], tasks: [...this.registry.tasks()] });
    for (const { name } of this.declared.all) names.add(name);
    const others = await inSlices(otherApplications({ application, names }, nodes), nodeClock);
    const former = this.#faults;
    this.#faults = new Map();
    for (const other of others) {
      // Other nodes of it, or more names, are no news.
      const since = former.get(other.application)?.since ?? nodeClock.monotonic();
      const sentence = sentenceOf(other, application);
      this.#faults.set(other.application, { subject: other.application, since, sentence });
      if (!former.has(other.application)) events.next({ type: 'other-application', ...other, sentence });
    }
  }

  #report(error: unknown): void {
    // During an outage, the parts that need the store report it.
    if (!isStoreError(error))
      this.context.events.next({ type: 'problem', action: 'look for other applications', error });
  }
}

function sentenceOf({ application, names, nodes }: OtherApplication, own: string): string {
  return (
    `application ${word(application)} (${listed(nodes)}) uses names of this application, ${word(own)}: ${listed(names)}. ` +
    'Both share their permits, so each may miss runs, or runs those of the other. Give each a store of its own (the option schema of ' +
    'postgres(), prefix of redis(), mapName of hazelcast()), or other names. If they are meant to share them, give both ' +
    'the same option application'
  );
}
