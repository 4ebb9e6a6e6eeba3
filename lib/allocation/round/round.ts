import type { Grant, Revocation } from '../assign/assign.js';
import type { MovementLimit } from '../assign/movement-limit.js';
import type { Strategy } from '../assign/strategy.js';
import type { LimboPage, OwnedPage } from '../map/page.js';
import type { AllocationRoot } from '../map/root.js';
import type { KnownPages } from './owner-map.js';
import type { LeaseBound, RegistryView } from './registry-view.js';

/** Orders of operators. Both name nodes, not incarnations, so they outlast a restart. */
export interface AllocationOrders {
  /** Resource -> node. */
  readonly pins: ReadonlyMap<string, string>;
  /** Nodes that must own nothing. */
  readonly drained: ReadonlySet<string>;
  /** The node that decides could never read them, so that any owner may be pinned, and any node without resources drained. */
  readonly areUnknown?: boolean;
}

interface RoundOptions extends LeaseBound {
  readonly strategy?: Strategy;
  readonly limit?: MovementLimit;
  /** Whether the participants have been the same for the settle delay. Until then nothing moves for balance. */
  readonly isSettled: boolean;
}

/** Input of one decision of the leader. Read in this order: root, pages, registry. */
export interface RoundInput {
  /** The root in the store, if there is one. */
  readonly found: AllocationRoot | undefined;
  /** The newest root that this node has seen, in any role. */
  readonly copy: AllocationRoot | undefined;
  readonly pages: KnownPages;
  /** This node's monotonic time after the root and its pages were read. */
  readonly readAt: number;
  /** This node's monotonic time when it first read a root with the `born` of `found`. */
  readonly bornSeenAt: number;
  readonly registry: RegistryView;
  /** The master set, in ascending order. */
  readonly resources: readonly string[];
  readonly orders: AllocationOrders;
  readonly options: RoundOptions;
  readonly leadership: Leadership;
  /** Upper bound of cluster time, in ms. */
  readonly now: number;
  /** New for each attempt. */
  readonly nonce: string;
}

export interface Leadership {
  /** Term that this node has, 0 at first. */
  readonly term: number;
  /** Whether its permit of leadership was confirmed since its last round. */
  readonly isConfirmed: boolean;
}

/** Why a round changes nothing. */
type IdleReason = 'not-leader' | 'registry-too-old' | 'grace' | 'strategy-failed' | 'settled';

/** The sentence of the reason `grace`. */
export const GRACE =
  'the owner map is new, or was lost: nothing is granted until every member has confirmed it, or its lease is over';

/** The sentence of a round that was decided without the orders. */
export const UNKNOWN_ORDERS =
  'the pins and drains can not be read: nothing is taken from a living node, and only nodes that own resources get more';

/** Counts of a round, for health and alarms. */
export interface RoundCounts {
  /** Resources with an owner. */
  readonly owned: number;
  /** Resources that wait for their former owner. */
  readonly limbo: number;
  /** Resources of the master set without an owner, with those in limbo. */
  readonly unowned: number;
  /** The ids of these; absent if there are none. */
  readonly unownedIds?: readonly string[];
  /** Resources that would move for balance if the limit, or the settle delay, allowed it. */
  readonly deferred: number;
  /** Lost pages whose resources are not free yet. */
  readonly lost: number;
}

/** Nothing to write. */
interface IdleRound {
  readonly kind: 'idle';
  readonly why: IdleReason;
  /** Error of the strategy. */
  readonly error?: unknown;
  /** Absent before the owner map was read. */
  readonly counts?: RoundCounts;
}

/** Write the pages in their slots, then the root by compare-and-set against `found`. */
export interface CommitRound {
  readonly kind: 'commit';
  readonly why: 'restored' | 'grace-over' | 'changed';
  readonly root: AllocationRoot;
  readonly owned: ReadonlyMap<string, OwnedPage>;
  readonly limbo: ReadonlyMap<string, LimboPage>;
  readonly revoked: readonly Revocation[];
  readonly granted: readonly Grant[];
  readonly counts?: RoundCounts;
}

export type Round = IdleRound | CommitRound;
