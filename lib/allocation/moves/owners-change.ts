import { z } from 'zod';
import { storedCount, storedList, storedText, storedTime } from '../../core/decision/index.js';
import { type NodeIdentity, nodeSchema } from '../../core/context/node-identity.js';

/**
 * Why a resource moved. `leaving`: its owner shuts down, or has the weight 0. `no-owner`: it had none, as far as the
 * leader knew.
 */
export const OWNER_MOVE_REASONS = [
  'removed',
  'pinned',
  'drained',
  'leaving',
  'balance',
  'no-owner',
  'owner-gone',
] as const;

/**
 * Why a resource got another owner, or lost its owner.
 *
 * @useDeclaredType
 */
export type OwnerMoveReason = (typeof OWNER_MOVE_REASONS)[number];

export const OWNER_MOVE_STEPS = ['given', 'taken'] as const;
export const OWNERS_CHANGE_KINDS = ['moved', 'restored', 'confirmed'] as const;

/** Resources that moved in one change of an owner map, from the same node, to the same node, for the same reason. */
export interface OwnerMoves {
  /** `taken`: from its owner, who gives it back first. `given`: to the next owner, which owns it from then on. */
  readonly step: (typeof OWNER_MOVE_STEPS)[number];
  /** Name of the former owner; absent: none is known. */
  readonly from?: string;
  /** Name of the next owner; absent if they were only taken. */
  readonly to?: string;
  /** Instance of the former owner, if the next one has the same name, and it is known. */
  readonly fromInstance?: string;
  /** Instance of the next owner, if the former one has the same name, and it is known. */
  readonly toInstance?: string;
  /** Why they moved. */
  readonly why: OwnerMoveReason;
  /** Number of resources. */
  readonly count: number;
  /** Ids of some of them, in ascending order. */
  readonly resources: readonly string[];
}

/** One change of the owner map of an allocation group. */
export interface OwnersChange {
  /** Name of the group. */
  readonly group: string;
  /** Cluster time in ms since 1970. */
  readonly at: number;
  /** The leader that made the change. */
  readonly node: NodeIdentity;
  /** Version of the owner map after the change. Grows with each change. */
  readonly version: number;
  /**
   * `restored`: the owner map was new, or was lost. Nothing is granted until every member has confirmed it. `confirmed`:
   * they have, and every resource got a new token.
   */
  readonly kind: (typeof OWNERS_CHANGE_KINDS)[number];
  /** Number of all steps of resources, also of those that `moves` leaves out. */
  readonly total: number;
  /** The largest first. Not more than 50. */
  readonly moves: readonly OwnerMoves[];
}

/** More than a version of this package writes. */
const MOST_OF_CHANGE = 1000;

const ownerMovesSchema: z.ZodType<OwnerMoves> = z.object({
  step: z.enum(OWNER_MOVE_STEPS),
  from: storedText.optional(),
  to: storedText.optional(),
  fromInstance: storedText.optional(),
  toInstance: storedText.optional(),
  why: z.enum(OWNER_MOVE_REASONS),
  count: storedCount,
  resources: storedList(storedText, MOST_OF_CHANGE),
});

export const ownersChangeSchema: z.ZodType<OwnersChange> = z.object({
  group: storedText,
  at: storedTime,
  node: nodeSchema,
  version: storedCount,
  kind: z.enum(OWNERS_CHANGE_KINDS),
  total: storedCount,
  moves: storedList(ownerMovesSchema, MOST_OF_CHANGE),
});
