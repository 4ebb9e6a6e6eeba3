import type { NodeCode, NodeInfo, NodeRegistry } from '../activity/index.js';
import { type Pieces, inSlices } from '../../core/async/slices.js';
import type { Context } from '../../core/context/context.js';
import type { DeclaredDefinitions } from '../../core/permits/declared/declared-definitions.js';
import { ALLOCATION_SCOPE } from '../../allocation/index.js';
import { LEADER_PREFIX, TASK_PREFIX, listed, word } from '../../core/decision/index.js';
import type { StoreDefinition } from '../../core/store/index.js';
import type { FaultPart } from './leader-watch.js';
import type { NodesReader, NodesReading } from './nodes-watch.js';

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
  readonly hasUsed: NodeCode['hasUsed'];
}

/** Finds the applications whose nodes use the same names as this node. A node without a name of its application is left out. */
export function* otherApplications(own: OwnNames, nodes: readonly NodeNames[]): Pieces<OtherApplication[]> {
  const found = new Map<string, { readonly names: Set<string>; readonly nodes: Set<string> }>();
  for (const { node, fingerprintOf, hasUsed } of nodes) {
    const { application, acquirer } = node;
    if (application === undefined || application === own.application) continue;
    yield own.names.size;
    const used = namesOf(node);
    const shared = [...own.names].filter(
      (name) => name !== SHARED && (used.has(name) || fingerprintOf(name) !== undefined || hasUsed(name)),
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

/** The parts of this node that an {@link ApplicationWatch} needs. */
interface ApplicationWatchParts {
  /** The name of this application; undefined if it is unknown. */
  readonly application: string | undefined;
  readonly store: Pick<StoreDefinition, 'kind' | 'place' | 'isOwn'>;
  readonly registry: Pick<NodeRegistry, 'jobs' | 'tasks' | 'used'>;
  readonly declared: Pick<DeclaredDefinitions, 'all'>;
}

/**
 * Says once which cluster this node has joined, and each time that another application on this store uses names of this
 * one. The nodes of all applications must publish themselves, or there is nothing to see.
 */
export class ApplicationWatch implements NodesReader {
  readonly action = 'look for other applications';
  #faults = new Map<string, FaultPart>();
  #hasJoined = false;

  constructor(
    private readonly parts: ApplicationWatchParts,
    private readonly context: Context,
  ) {}

  /** One fault per other application. */
  get faults(): readonly FaultPart[] {
    return [...this.#faults.values()];
  }

  async look({ codes: nodes }: NodesReading): Promise<void> {
    this.#sayOnce(nodes);
    const { application } = this.parts;
    // Without a name there is nothing to compare.
    if (application === undefined) return;
    const others = await inSlices(
      otherApplications({ application, names: this.#ownNames() }, nodes),
      this.context.nodeClock,
    );
    this.#warn(application, others);
  }

  #ownNames(): Set<string> {
    const { registry, declared } = this.parts;
    const names = namesOf({ jobs: [...registry.jobs()], tasks: [...registry.tasks()] });
    for (const { name } of declared.all) names.add(name);
    for (const name of registry.used()) names.add(name);
    return names;
  }

  /** Shows a wrong store: the log then lists nodes of another environment. */
  #sayOnce(nodes: readonly NodeCode[]): void {
    const { application, store } = this.parts;
    if (this.#hasJoined || store.isOwn) return;
    this.#hasJoined = true;
    const others = nodes.flatMap(({ node }) => (node.instance === this.context.node.instance ? [] : [node]));
    this.context.events.next({
      type: 'cluster-joined',
      ...(application !== undefined && { application }),
      nodes: others.length,
      sentence: joinedSentence(application, store.place ?? store.kind, others),
    });
  }

  #warn(own: string, others: readonly OtherApplication[]): void {
    const { nodeClock, events } = this.context;
    const former = this.#faults;
    this.#faults = new Map();
    for (const other of others) {
      // Other nodes of it, or more names, are no news.
      const since = former.get(other.application)?.since ?? nodeClock.monotonic();
      const sentence = sentenceOf(other, own);
      this.#faults.set(other.application, { subject: other.application, since, sentence });
      if (!former.has(other.application)) events.next({ type: 'other-application', ...other, sentence });
    }
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

/** Nothing would ever say that another application uses the same names. */
const NAMELESS =
  '. It has no application name, because no package.json above its script has one: set the option application. Without it, ' +
  'another application that uses the same names is not noticed';

/** @param own name of this application @param place of the records, in words */
export function joinedSentence(
  own: string | undefined,
  place: string,
  others: readonly Pick<NodeInfo, 'acquirer' | 'host' | 'application'>[],
): string {
  const who = own === undefined ? 'this application' : `application ${word(own)}`;
  const named = ({ acquirer, host, application }: (typeof others)[number]) =>
    `${word(acquirer)} on ${word(host)}${application === undefined || application === own ? '' : ` (${word(application)})`}`;
  const count = others.length === 1 ? '1 other node' : `${others.length} other nodes`;
  const whom = others.length === 0 ? 'no other node yet' : `${count}: ${listed(others.map(named), String)}`;
  return `${who} has joined ${place}, with ${whom}${own === undefined ? NAMELESS : ''}`;
}
