import { z } from 'zod';
import { list, named, whole } from '../core/decision/answer-values.js';
import type { RevocationReason } from './assign/assign.js';

/* Answers about a group: its resources and nodes, and a plan. Import only types from here in code that an application loads. */

export const ownedBySchema = z
  .object({
    id: z.string().meta({ description: 'id of the resource' }),
    node: z.string().optional().meta({ description: 'name of the owner; absent: it has none now' }),
    instance: z
      .string()
      .optional()
      .meta({ description: 'instance of the owner; absent if it is no living member any more' }),
    token: whole.optional().meta({ description: 'fencing token: grows with every change of owner' }),
    from: z.string().optional().meta({ description: 'node that has not given it back yet' }),
    pinnedTo: z.string().optional().meta({ description: 'node that an operator wants for it' }),
  })
  .meta({ id: 'OwnedResource' });

/** One resource of a group, with its owner. */
export interface OwnedBy extends Readonly<z.output<typeof ownedBySchema>> {}

export const groupNodeSchema = z
  .object({
    node: z.string().meta({ description: 'name of the node' }),
    incarnation: z.string().meta({ description: 'id of its membership lease' }),
    weight: whole.meta({ description: 'its share, compared with the others' }),
    owned: whole.meta({ description: 'number of resources that it owns' }),
    isDrained: z.boolean().meta({ description: 'whether an operator drains it' }),
    excluded: z.string().optional().meta({ description: 'why it can not own any resource now; absent if it can' }),
  })
  .meta({ id: 'AllocationNode' });

/** One living node of a group. */
export interface GroupNode extends Readonly<z.output<typeof groupNodeSchema>> {}

export const leftText = 'number of the known resources that the set still has';

export const setInDoubtSchema = z
  .object({
    node: z.string().meta({ description: 'name of the deciding node, which read it' }),
    known: whole.meta({ description: 'number of the known resources' }),
    left: whole.meta({ description: leftText }),
  })
  .meta({
    id: 'SetInDoubt',
    description:
      'a set that lacks most of the known resources: it counts only if other nodes read the same, or an operator confirms it',
  });

/** A set that lacks most of the known resources, as the deciding node read it. All owners stay until it counts. */
export interface SetInDoubt extends Readonly<z.output<typeof setInDoubtSchema>> {}

/** Why a resource gets another owner. */
export type MoveReason = RevocationReason | 'no-owner' | 'owner-gone';

const plannedMoveSchema = z
  .object({
    resource: z.string().meta({ description: 'id of the resource' }),
    from: z.string().optional().meta({ description: 'its owner now, if it has one' }),
    to: z.string().optional().meta({ description: 'its next owner; absent: no node may own it' }),
    why: named<MoveReason>(z.enum(['removed', 'pinned', 'drained', 'balance', 'no-owner', 'owner-gone'])).meta({
      description: 'why it moves',
    }),
  })
  .meta({ id: 'PlannedMove' });

/** One resource that would get another owner, or none. */
export interface PlannedMove extends Readonly<z.output<typeof plannedMoveSchema>> {}

const plannedShareSchema = z
  .object({
    id: z.string().meta({ description: 'name of the node' }),
    before: whole.meta({ description: 'number of its resources now' }),
    after: whole.meta({ description: 'number of its resources after the change' }),
  })
  .meta({ id: 'PlannedShare' });

/** Number of resources of one node before and after. */
export interface PlannedShare extends Readonly<z.output<typeof plannedShareSchema>> {}

export const allocationPlanSchema = z.object({
  homeless: whole.meta({ description: 'number of all resources of the set that no node may own then' }),
  moves: list<PlannedMove>(plannedMoveSchema).meta({
    description: 'resources that left the set first, then in ascending order',
  }),
  shares: list<PlannedShare>(plannedShareSchema).meta({
    description: 'by the names of the nodes; processes with one name are one node',
  }),
  sentences: list(z.string()).meta({ description: 'one per pair of nodes and reason, the largest first' }),
});

/** Moves that a change would cause, and the resources of each node after it. */
export interface AllocationPlan extends Readonly<z.output<typeof allocationPlanSchema>> {}
