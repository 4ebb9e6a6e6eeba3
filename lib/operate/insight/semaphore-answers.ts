import { z } from 'zod';
import { type HolderState, holderSchema } from '../../core/context/answers.js';
import { list, named, time, whole } from '../../core/decision/answer-values.js';
import { type RunEntry, runSchema } from '../activity/history-answers.js';
import { jobInfoSchema, nodeInfoSchema } from '../activity/node-info.js';
import { definitionStateSchema } from '../definitions/answers.js';
import { type Warning, warningSchema } from './warning.js';

/*
 * Semaphores with their holders and jobs, and nodes with their permits. Import only types from here in code that an application loads.
 * A field with a docstring besides its description says more there than the document of the API.
 */

const stateSchema = z.object({
  ...definitionStateSchema.partial().shape,
  name: z.string().meta({ description: 'name of the semaphore' }),
  /**
   * Present if no code and no operator defines it: its definition comes from the calls that hold its permits, and ends with
   * the last of them.
   */
  isOnDemand: z.literal(true).optional().meta({
    description:
      'no code and no operator defines it: its definition ends with the last permit of the calls that use it',
  }),
  /** Revision of the definition in force. */
  revision: definitionStateSchema.shape.revision,
  holders: list<HolderState>(holderSchema).meta({
    description: 'the permits in the record, including those that have ended but are not dropped yet',
  }),
  free: whole.meta({ description: 'number of permits that the definition still allows to grant now' }),
  lastGrantAt: time.optional().meta({
    description: 'the last grant, not counting refreshes: ms since the epoch, cluster time; absent if there was none',
  }),
  isForThisNode: z.boolean().meta({
    description: "whether this node's group and acquirer match the definition; false during a pause",
  }),
  problem: z.string().optional().meta({ description: "why the record can't be read; absent if it can" }),
});

/** A semaphore as one node sees it: definition, holders and free permits. */
export interface SemaphoreState extends Readonly<z.output<typeof stateSchema>> {}

const holderOverviewSchema = holderSchema
  .extend({
    /**
     * True if the process of the holder is none of the living nodes, and has not renewed the permit for 10 s: it crashed, is
     * cut off, or publishes no heartbeat. Absent if it is heard of, or if that is unknown, as for other programs.
     */
    isUnheard: z.literal(true).optional().meta({
      description:
        'its process is none of the living nodes, and has not renewed the permit for 10 s; absent if that is unknown',
    }),
  })
  .meta({ id: 'HolderOverview' });

/** A held permit, and whether its holder is still heard of. */
export interface HolderOverview extends Readonly<z.output<typeof holderOverviewSchema>> {}

const jobOnNodesSchema = jobInfoSchema
  .extend({ nodes: whole.meta({ description: 'number of living nodes that have this job' }) })
  .meta({ id: 'SemaphoreJob' });

/** A job, as defined on the node that started last. */
export interface JobOnNodes extends Readonly<z.output<typeof jobOnNodesSchema>> {}

export const semaphoreOverviewSchema = stateSchema
  .extend({
    holders: list<HolderOverview>(holderOverviewSchema).meta({
      description: 'the permits in the record, including those that have ended but are not dropped yet',
    }),
    jobs: list<JobOnNodes>(jobOnNodesSchema).meta({ description: 'the jobs that it guards, sorted by name' }),
    /**
     * The next scheduled run of any of its jobs on a node that the definition matches: cluster time, ms since the epoch.
     * While no permit is free, the next one of the holder, or the first one after the end of a permit. Absent if none is
     * known, or while nothing may run: during a pause, or with 0 permits.
     */
    next: time.optional(),
    lastRun: named<RunEntry>(runSchema).optional().meta({
      description: 'the newest run of any of its jobs that has ended or crashed; absent if none is known',
    }),
    warnings: list<Warning>(warningSchema).meta({ description: 'conditions that an operator should look into' }),
  })
  .meta({ id: 'SemaphoreOverview' });

/** A semaphore with its jobs, runs and warnings. */
export interface SemaphoreOverview extends Readonly<z.output<typeof semaphoreOverviewSchema>> {}

const heldSchema = z
  .object({
    semaphore: z.string().meta({ description: 'name of the semaphore' }),
    slot: whole,
    token: whole.meta({ description: 'fencing token' }),
    expiresAt: time,
  })
  .meta({ id: 'HeldPermit' });

/** A permit that a node holds. */
export interface HeldPermit extends Readonly<z.output<typeof heldSchema>> {}

export const nodeOverviewSchema = nodeInfoSchema
  .extend({
    holds: list<HeldPermit>(heldSchema).meta({ description: 'its permits that have not expired' }),
    jobs: z.array(jobInfoSchema.meta({ id: 'NodeJob' })),
  })
  .meta({ id: 'Node' });

/** A living node, and the permits that it holds. */
export interface NodeOverview extends Readonly<z.output<typeof nodeOverviewSchema>> {}
