import { TASK_PREFIX, reservedNameFault } from '../core/decision/index.js';
import type { Parts } from './parts.js';
import type { ObservedNode } from './telemetry.js';
import type { NodeRegistry } from '../operate/activity/index.js';
import type { Context } from '../core/context/context.js';
import { groupType } from '../tasks/task-id.js';

/** The node of these parts, as telemetry sees it. */
export function observedNode({
  context,
  directory,
  health,
  cluster,
  allocation,
  tasks,
  registry,
}: Parts): ObservedNode {
  const { node, events, nodeClock } = context;
  const handled = new HandledTypes(context, registry, (type) => tasks.isOfCode(type));
  const isDeclared = (name: string) => directory.declared.has(name);
  const isHandled = (type: string) => isDeclared(TASK_PREFIX + type) || handled.has(type);
  const isMade = (name: string) =>
    name.startsWith(TASK_PREFIX) ? isHandled(name.slice(TASK_PREFIX.length)) : reservedNameFault(name) !== undefined;
  const candidates = () => [cluster, allocation.cluster].flatMap((each) => each.candidates);
  return {
    node,
    monotonic: () => nodeClock.monotonic(),
    events: events.asObservable(),
    isDeclared: (name) => isDeclared(name) || isMade(name),
    isHandled,
    held: () =>
      new Map([...directory.inUse].map(([name, { heldLeases }]) => [name, heldLeases.leases.filter(isHeld).length])),
    health: () => health.report(),
    leading: () =>
      new Map(candidates().flatMap((each) => (each.isStarted ? [[each.scope, each.term !== undefined]] : []))),
    owned: () => new Map(allocation.groups.map((group) => [group.name, group.owned().length])),
  };
}

function isHeld({ isHeld: held }: { readonly isHeld: boolean }): boolean {
  return held;
}

/** ms between two readings of the nodes, which are made only while types are asked for that are not known. */
const PAUSE = 30_000;

/**
 * The types of tasks that the nodes of the cluster handle, and that code of this node submits. Programs may name any type,
 * so other names must not come into the metrics, of which the number of names is limited.
 */
class HandledTypes {
  #readAt = -Infinity;

  constructor(
    private readonly context: Pick<Context, 'nodeClock' | 'isClosing'>,
    private readonly registry: Pick<NodeRegistry, 'known' | 'nodes'>,
    private readonly isOfCode: (type: string) => boolean,
  ) {}

  /** As this node knows it. Does not wait for the store: a type that another node has just begun to handle is known later. */
  has(type: string): boolean {
    const wanted = groupType(type);
    if (this.isOfCode(wanted)) return true;
    const isKnown = this.registry.known.some(({ tasks = [] }) =>
      tasks.some((each) => each.type === wanted && each.handles !== 'programs'),
    );
    if (!isKnown) this.#read();
    return isKnown;
  }

  #read(): void {
    const { nodeClock, isClosing } = this.context;
    const now = nodeClock.monotonic();
    if (now - this.#readAt < PAUSE || isClosing()) return;
    this.#readAt = now;
    // The registry itself reports that it can't be read. Until then the names stay out of the metrics.
    this.registry.nodes().catch(() => undefined);
  }
}
