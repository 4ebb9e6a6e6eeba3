import { z } from 'zod';
import { type NodeTasks, nodeTasksSchema } from '../../gatekeeper/index.js';
import { DENIAL_REASONS } from '../../core/decision/index.js';
import type { HandledType, WaitingType } from '../../tasks/index.js';
import { list, nodeIdentitySchema, time, whole } from './entities.js';
import { stale } from './health.js';

/* The answers about types of tasks, for operators. If a schema differs from the library's own type, this file doesn't compile. */

const waitingTypeSchema: z.ZodType<WaitingType> = z
  .object({
    type: z.string(),
    offeredAt: time.meta({ description: 'when the first of its tasks was offered last' }),
    waiting: whole.meta({ description: 'about how many of its tasks and groups wait' }),
  })
  .meta({ id: 'WaitingTaskType' });
const handledTypeSchema: z.ZodType<HandledType> = z
  .object({
    type: z.string(),
    handles: z.enum(['tasks', 'groups']),
    concurrency: whole,
    running: whole,
    obstacle: z.enum(['paused-here', ...DENIAL_REASONS]).optional(),
  })
  .meta({ id: 'HandledTaskType' });

/** The work of one node on tasks. */
export interface NodeWork {
  readonly node: { readonly group: string; readonly acquirer: string; readonly instance: string };
  readonly types: readonly NodeTasks[];
}

const nodeWorkSchema = z
  .object({ node: nodeIdentitySchema, types: list(nodeTasksSchema as z.ZodType<NodeTasks>) })
  .meta({ id: 'NodeWork' });

export const taskTypesSchema = z
  .object({
    now: time,
    waiting: list(waitingTypeSchema).meta({ description: 'types of which tasks wait; at most 100' }),
    isCut: z.boolean().meta({ description: 'whether more types may wait than are in the list' }),
    here: list(handledTypeSchema).meta({ description: 'types that the answering node handles' }),
    nodes: list(nodeWorkSchema).meta({
      description: 'the living nodes that handle tasks, as of their last heartbeat; the answering node as of now',
    }),
    stale,
  })
  .meta({ id: 'TaskTypeList' });
export type TaskTypesAnswer = z.output<typeof taskTypesSchema>;
