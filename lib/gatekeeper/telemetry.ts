import type { Observable } from 'rxjs';
import type { Allocation } from '../allocation/index.js';
import type { Context } from '../core/context/context.js';
import type { GatekeeperEvent } from '../core/context/events.js';
import type { Instrumentation } from '../core/context/instrumentation.js';
import type { NodeIdentity } from '../core/context/node-identity.js';
import { TASK_PREFIX, reservedNameFault } from '../core/decision/index.js';
import type { SemaphoreDirectory } from '../core/permits/semaphore-directory.js';
import type { Cluster } from '../leadership/index.js';
import type { NodeRegistry } from '../operate/activity/index.js';
import type { Health, HealthCheck } from '../operate/insight/index.js';
import type { Tasks } from '../tasks/index.js';
import { groupType } from '../tasks/rules/task-id.js';

/** A node, as telemetry sees it. Nothing here asks the store. */
export interface ObservedNode {
  readonly node: NodeIdentity;
  /** ms of the node's monotonic clock. */
  monotonic(): number;
  /** Completes when the node closes. */
  readonly events: Observable<GatekeeperEvent>;
  /** Whether code defines the semaphore, or the package does: there are only a few such names. */
  isDeclared(semaphore: string): boolean;
  /**
   * Whether a node of the cluster handles tasks of this type, as far as this node knows, or code of this node submits or limits
   * them. Programs may name any other type.
   */
  isHandled(type: string): boolean;
  /** Numbers of the permits that this process holds, by semaphore. */
  held(): ReadonlyMap<string, number>;
  health(): Health;
  /** The scopes in which this node takes part, and whether it leads them. */
  leading(): ReadonlyMap<string, boolean>;
  /** Numbers of the resources that this node owns, by allocation group. */
  owned(): ReadonlyMap<string, number>;
}

/** Telemetry of one node. */
export interface Telemetry extends Instrumentation {
  /** The node starts. Calls before that must not fail. */
  observe(node: ObservedNode): void;
  /** The node has closed. Idempotent. */
  close(): void;
}

/** Value of the option `telemetry`: `openTelemetry()` of `nestjs-gatekeeper/opentelemetry`. */
export interface TelemetryDefinition {
  /** Makes the telemetry of one node, which then calls it. */
  open(): Telemetry;
}

/** The parts of a node that telemetry sees. */
interface TelemetryParts {
  readonly context: Context;
  readonly directory: SemaphoreDirectory;
  readonly registry: NodeRegistry;
  readonly cluster: Cluster;
  readonly allocation: Allocation;
  readonly tasks: Tasks;
  readonly health: HealthCheck;
}

/** The node of these parts, as telemetry sees it. */
export function observedNode(parts: TelemetryParts): ObservedNode {
  const { context, directory, registry, cluster, allocation, tasks, health } = parts;
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
