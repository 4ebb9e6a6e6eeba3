import type { AllocationGroup, GroupOverview, GroupSummary } from '../../allocation/index.js';
import { type AuditAction, partsOf } from '../../gatekeeper/index.js';
import { timeOf } from '../../core/context/context.js';
import { isUnreadable } from '../../core/cell/known-record.js';
import { UnknownOutcomeError } from '../../core/store/index.js';
import { GatekeeperService } from '../../nest/gatekeeper.service.js';
import { expectSeen, type Sees, type Visitor } from '../http/visitor.js';
import { type GroupAnswer, type InputOf, MOST_MOVES, type MovesAnswer, type PlanAnswer, ROUTES } from '../api/index.js';
import { ConsoleController } from '../http/console-controller.decorator.js';
import { Input, SeenNames, VisitorOf } from '../http/input.decorator.js';
import { Serves } from '../http/handlers.js';

/** Name of a group in the audit log, in events, and for tokens that are limited to some names. */
const PREFIX = 'allocation:';

interface Order {
  readonly resource?: string;
  readonly node?: string;
  readonly left?: number;
}

/** Serves the allocation groups of this node, and the orders of operators for them. */
@ConsoleController()
export class AllocationController {
  constructor(private readonly gatekeeper: GatekeeperService) {}

  @Serves(ROUTES.groups)
  async list(@SeenNames() sees: Sees): Promise<{ now: number; groups: GroupSummary[] }> {
    const { allocation, health } = partsOf(this.gatekeeper);
    // Without a group, or with none that the visitor may see, nothing else asks the store.
    await health.expectAnswer();
    const seen = allocation.groups.map(({ name }) => name).filter((name) => !sees || sees(PREFIX + name));
    const overviews = allocation.overviews(seen);
    const groups = await Promise.all(overviews.map((each, at) => each.then(summaryOf, unreadable(seen[at]!))));
    return { now: this.#now, groups };
  }

  @Serves(ROUTES.group)
  async one(
    @Input() { params, query }: InputOf<typeof ROUTES.group>,
    @VisitorOf() visitor: Visitor,
  ): Promise<GroupAnswer> {
    const overview = await this.#group(params.group, visitor).overview();
    const { resources, pins, nodes, drained, faults, name, isRecovering, doubt } = overview;
    return {
      now: this.#now,
      name,
      isRecovering,
      total: resources.length,
      unowned: unownedIn(overview),
      resources: resources.slice(0, query.limit),
      nodes: [...nodes],
      pins: pins.map(([resource, node]) => ({ resource, node })),
      drained: [...drained],
      faults: [...faults],
      ...(doubt && { doubt }),
    };
  }

  @Serves(ROUTES.moves)
  async moves(
    @Input() { params, query }: InputOf<typeof ROUTES.moves>,
    @VisitorOf() visitor: Visitor,
  ): Promise<MovesAnswer> {
    const { changes, unnamed } = await this.#group(params.group, visitor).moves(query);
    return { now: this.#now, changes: [...changes], unnamed };
  }

  @Serves(ROUTES.planAllocation)
  async plan(
    @Input() { params, body }: InputOf<typeof ROUTES.planAllocation>,
    @VisitorOf() visitor: Visitor,
  ): Promise<PlanAnswer> {
    const { pin = [], ...change } = body;
    const pins = pin.map(({ resource, node }) => [resource, node] as const);
    const plan = await this.#group(params.group, visitor).plan({ ...change, pin: pins });
    return { ...plan, moves: plan.moves.slice(0, MOST_MOVES), total: plan.moves.length };
  }

  @Serves(ROUTES.pin)
  pin(@Input() { params, body }: InputOf<typeof ROUTES.pin>, @VisitorOf() visitor: Visitor) {
    const { resource, node, reason } = body;
    const group = this.#group(params.group, visitor);
    return this.#order(group, visitor, { action: 'pin', order: { resource, node }, reason }, () =>
      group.pin(resource, node),
    );
  }

  @Serves(ROUTES.unpin)
  unpin(@Input() { params, body }: InputOf<typeof ROUTES.unpin>, @VisitorOf() visitor: Visitor) {
    const { resource, reason } = body;
    const group = this.#group(params.group, visitor);
    return this.#order(group, visitor, { action: 'unpin', order: { resource }, reason }, () => group.unpin(resource));
  }

  @Serves(ROUTES.drain)
  drain(@Input() { params, body: { node, reason } }: InputOf<typeof ROUTES.drain>, @VisitorOf() visitor: Visitor) {
    const group = this.#group(params.group, visitor);
    return this.#order(group, visitor, { action: 'drain', order: { node }, reason }, () => group.drain(node));
  }

  @Serves(ROUTES.undrain)
  undrain(@Input() { params, body: { node, reason } }: InputOf<typeof ROUTES.undrain>, @VisitorOf() visitor: Visitor) {
    const group = this.#group(params.group, visitor);
    return this.#order(group, visitor, { action: 'undrain', order: { node }, reason }, () => group.undrain(node));
  }

  @Serves(ROUTES.confirmResources)
  async confirmResources(
    @Input() { params, body }: InputOf<typeof ROUTES.confirmResources>,
    @VisitorOf() visitor: Visitor,
  ) {
    const group = this.#group(params.group, visitor);
    // The audit log says which set it was.
    const left = body.left ?? (await group.overview()).doubt?.left;
    if (left === undefined) return { done: false };
    const given = { action: 'confirm-resources', order: { left }, reason: body.reason } as const;
    return this.#order(group, visitor, given, () => group.confirmResources({ left }));
  }

  /** @throws UnknownGroupError, or ProblemError for a group that the visitor may not see */
  #group(name: string, visitor: Visitor): AllocationGroup {
    expectSeen(visitor, { name: PREFIX + name });
    return partsOf(this.gatekeeper).allocation.group(name);
  }

  get #now(): number {
    return timeOf(partsOf(this.gatekeeper).context);
  }

  /** Makes a change, and writes it into the audit log, also if its outcome is unknown. */
  async #order(
    { name }: AllocationGroup,
    { user: by }: Visitor,
    { action, order, reason }: { action: AuditAction; order: Order; reason: string | undefined },
    change: () => Promise<boolean>,
  ): Promise<{ done: boolean }> {
    const { audit } = partsOf(this.gatekeeper);
    const entry = { action, semaphore: PREFIX + name, by, ...(reason !== undefined && { reason }), order };
    const done = await change().catch((error: unknown) => {
      if (error instanceof UnknownOutcomeError) audit.note({ ...entry, outcome: 'unknown' });
      throw error;
    });
    if (done) audit.note(entry);
    return { done };
  }
}

function summaryOf(overview: GroupOverview): GroupSummary {
  const { name, isRecovering, resources, nodes, faults } = overview;
  const moving = resources.filter(({ from }) => from !== undefined).length;
  const counts = { resources: resources.length, unowned: unownedIn(overview), moving, nodes: nodes.length };
  return { name, isRecovering, ...counts, faults };
}

/** An owner map that can't be read must not hide the other groups. */
function unreadable(name: string): (error: unknown) => GroupSummary {
  return (error) => {
    if (!isUnreadable(error)) throw error;
    return { name, isRecovering: false, faults: [error.message] };
  };
}

function unownedIn({ resources }: GroupOverview): number {
  return resources.filter(({ node }) => node === undefined).length;
}
