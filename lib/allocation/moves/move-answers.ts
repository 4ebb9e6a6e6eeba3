import { z } from 'zod';
import { nodeIdentitySchema } from '../../core/context/node-identity.js';
import { list, named, time, whole } from '../../core/decision/answer-values.js';
import { OWNERS_CHANGE_KINDS, OWNER_MOVE_REASONS, OWNER_MOVE_STEPS, type OwnerMoveReason } from './move-kinds.js';

/* Past moves of resources, as a group answers them. Import only types from here in code that an application loads. */

const pastMoveSchema = z
  .object({
    /** `taken`: from its owner, who gives it back first. `given`: to the next owner, which owns it from then on. */
    step: z
      .enum(OWNER_MOVE_STEPS)
      .meta({ id: 'OwnerMoveStep', description: 'taken: from its owner; given: to the next one, later' }),
    from: z.string().optional().meta({ description: 'name of the former owner; absent: none is known' }),
    to: z.string().optional().meta({ description: 'name of the next owner; absent if they were only taken' }),
    fromInstance: z.string().optional().meta({
      description: 'instance of the former owner; only if both owners have one name',
    }),
    toInstance: z.string().optional().meta({
      description: 'instance of the next owner; only if both owners have one name',
    }),
    why: named<OwnerMoveReason>(z.enum(OWNER_MOVE_REASONS)).meta({
      id: 'OwnerMoveReason',
      description: 'why they moved',
    }),
    reason: z.string().meta({ description: 'why in words' }),
    count: whole.meta({ description: 'number of resources' }),
    /** Ids of some of them, in ascending order. */
    resources: list(z.string()).meta({ description: 'ids of some of them' }),
  })
  .meta({ id: 'PastMove' });
const ownerMovesSchema = pastMoveSchema.omit({ reason: true });

/** Resources that moved in one change of an owner map, from the same node, to the same node, for the same reason. */
export interface OwnerMoves extends Readonly<z.output<typeof ownerMovesSchema>> {}

/** Resources that moved together. */
export interface PastMove extends Readonly<z.output<typeof pastMoveSchema>> {}

const pastChangeSchema = z
  .object({
    group: z.string().meta({ description: 'name of the group' }),
    at: time,
    node: nodeIdentitySchema.meta({ description: 'the leader that made the change' }),
    /** Version of the owner map after the change. Grows with each change. */
    version: whole.meta({ description: 'version of the owner map after the change' }),
    /**
     * `restored`: the owner map was new, or was lost. Nothing is granted until every member has confirmed it. `confirmed`:
     * they have, and every resource got a new token.
     */
    kind: z.enum(OWNERS_CHANGE_KINDS).meta({ id: 'OwnersChangeKind' }),
    total: whole.meta({ description: 'number of all moves, also of those that the list leaves out' }),
    moves: list<PastMove>(pastMoveSchema).meta({
      description: 'per nodes and reason, the largest first; at most 50',
    }),
    sentence: z.string().optional().meta({ description: 'explains the kinds restored and confirmed' }),
  })
  .meta({ id: 'PastChange' });
const ownersChangeSchema = pastChangeSchema.omit({ sentence: true }).extend({
  /** The largest first. Not more than 50. */
  moves: list<OwnerMoves>(ownerMovesSchema),
});

/** One change of the owner map of an allocation group. */
export interface OwnersChange extends Readonly<z.output<typeof ownersChangeSchema>> {}

/** One change of an owner map, in words, too. */
export interface PastChange extends Readonly<z.output<typeof pastChangeSchema>> {}

export const pastMovesSchema = z.object({
  /** The newest first. With a filter: only changes with moves that match, and only those moves. */
  changes: list<PastChange>(pastChangeSchema).meta({ description: 'newest first' }),
  unnamed: whole.meta({
    description: 'number of changes that the filter by resource can not judge: they name only some resources',
  }),
});

/** Past changes of the owner map of a group. */
export interface PastMoves extends Readonly<z.output<typeof pastMovesSchema>> {}
