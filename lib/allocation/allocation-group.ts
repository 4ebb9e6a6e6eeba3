import type { Observable } from 'rxjs';
import type { Allocated, AllocationListener } from './group-options.js';
import type { AllocationPlan } from './answers.js';
import type { GroupOverview } from './group-overview.js';
import type { PastMoves } from './moves/move-answers.js';
import type { MovesQuery } from './moves/past-moves.js';
import type { OwnerRun, Ownership } from './node/owner-work.js';
import type { PlanRequest } from './plan.js';
import type { GroupFault } from './unowned-alarm.js';

/** A set in doubt, as an operator saw it. */
export interface ConfirmedSet {
  /** Number of the known resources that it still has, as `overview().doubt` says. Default: the present one's. */
  readonly left?: number | undefined;
}

/**
 * The resources of one group, divided over the living nodes. Each has at most one owner at every moment of cluster time.
 * Applications get groups from `AllocationService`.
 */
export interface AllocationGroup<T = unknown> {
  /** The same on all nodes. */
  readonly name: string;

  /** The resources that this node owns now, by its own clocks. Without those that it is giving back. Asks nothing. */
  owned(): readonly Allocated<T>[];

  /** {@link owned} after each change. Replays the last one. Completes when this node closes. */
  readonly owned$: Observable<readonly Allocated<T>[]>;

  /**
   * Whether this node owns a resource now. Reads the node's own clocks and asks nothing. False when in doubt: two nodes
   * never answer true at the same cluster time.
   */
  owns(id: string): boolean;

  /**
   * Runs `work` if this node owns the resource. When the resource is revoked, `ownership.signal` aborts, and the resource
   * goes to another node when the work has ended, or after `handoverTimeout`.
   *
   * @throws any error of `work`
   */
  run<R>(id: string, work: (ownership: Ownership) => R | Promise<R>): Promise<OwnerRun<R>>;

  /** Calls `listener` for each change from now on, as `onAllocated`. */
  onAllocated(listener: AllocationListener<T>): void;

  /**
   * Reads the resources now, on this node and on the leader, and divides them anew.
   *
   * @throws StoreUnavailableError or UnknownOutcomeError if the store gives no clear answer
   */
  rebalance(): Promise<void>;

  /**
   * Lets the set in doubt count: a reading of the leader that lacks more than half of the known resources, which else counts
   * only when more than half of the nodes read the same. The leader reads once more, and the result counts if it has at
   * least as many of the known resources as the set in doubt. Works on any node of the group.
   *
   * @returns false if no set is in doubt, or only one that is smaller than `left` says: nothing is confirmed then
   * @throws InvalidOptionsError
   * @throws StoreUnavailableError or UnknownOutcomeError if the store gives no clear answer
   */
  confirmResources(set?: ConfirmedSet): Promise<boolean>;

  /**
   * Keeps a resource on a node, by the node's name (`acquirer`), also after a restart. While no such node lives, the
   * resource is on another one.
   *
   * @returns whether this changed the orders: false if it was pinned to that node already
   * @throws InvalidOptionsError
   * @throws StoreUnavailableError or UnknownOutcomeError if the store gives no clear answer
   */
  pin(id: string, node: string): Promise<boolean>;

  /** Ends a {@link pin}. Same errors. @returns false if there was none */
  unpin(id: string): Promise<boolean>;

  /**
   * Takes all resources of a node away, by the node's name, until {@link undrain}. Same errors as {@link pin}.
   *
   * @returns false if the node was drained already
   */
  drain(node: string): Promise<boolean>;

  /** Ends a {@link drain}. Same errors. @returns false if the node was not drained, as for a misspelt name */
  undrain(node: string): Promise<boolean>;

  /**
   * Says what would move, and why, without doing it. Nodes are named by their names. Without a change: what would move now.
   *
   * @throws StoreUnavailableError, and AllocationStrategyError if your strategy gives a wrong result
   * @throws InvalidOptionsError if the resources could never be read on this node
   * @throws CorruptRecordError or NewerRecordError if the pins and drains could never be read on this node
   */
  plan(change?: PlanRequest): Promise<AllocationPlan>;

  /** The owners of all resources, as the store has them now. @throws StoreUnavailableError */
  overview(): Promise<GroupOverview>;

  /**
   * The last changes of owners: which resources moved, when, from which node to which, and why. A change of many resources
   * names some of them, and counts the others. The history of a group keeps as many changes as a journal of the store,
   * and this call looks at the last 1,000.
   *
   * @throws StoreUnavailableError
   */
  moves(query?: MovesQuery): Promise<PastMoves>;

  /** The alarm about resources without an owner, on the leader. */
  readonly unowned: GroupFault | undefined;
}
