import { z } from 'zod';
import {
  type Pause,
  type SemaphoreDefinition,
  type StoredPermit,
  definitionSchema,
  pauseSchema,
  permitSchema,
} from '../decision/answers.js';
import { named, time, whole } from '../decision/answer-values.js';
import { AUDIT_ACTIONS, type AuditAction, CHANGE_OUTCOMES } from './audit-actions.js';
import { nodeIdentitySchema } from './node-identity.js';

/*
 * Permits with their remaining time, and entries of the audit log. Import only types from here in code that an application loads.
 * A field with a docstring besides its description says more there than the document of the API.
 */

export const holderSchema = permitSchema
  .extend({
    /** ms until the permit ends by cluster time, at most its duration; negative if it has ended but is not dropped yet. */
    remaining: z.number().meta({ description: 'ms until it ends; negative if it has ended but is not dropped yet' }),
    isMine: z.boolean().meta({ description: 'whether the reporting node holds the permit' }),
  })
  .meta({ id: 'HolderState' });

/** A held permit with its remaining time. */
export interface HolderState extends Readonly<z.output<typeof holderSchema>> {}

export const auditActionSchema = named<AuditAction>(z.enum(AUDIT_ACTIONS));
const definition = named<SemaphoreDefinition>(definitionSchema);

export const auditEntrySchema = z
  .object({
    id: z.string().optional().meta({ description: 'unique; absent in entries that a former version wrote' }),
    at: time,
    action: auditActionSchema.meta({ description: 'the kind of change' }),
    semaphore: z.string().meta({
      description:
        'name of the semaphore, or `allocation:` with the name of an allocation group, `task:` with the type of a task, or ' +
        '`maintenance:` with the name of a window',
    }),
    by: z.string().meta({ description: 'name of the person or program that made the change' }),
    reason: z.string().optional().meta({ description: 'the reason that was given' }),
    node: nodeIdentitySchema.meta({ description: 'the node that wrote the change' }),
    revision: whole.optional().meta({ description: 'the revision after the change' }),
    from: definition.optional().meta({ description: 'the definition before the change; absent if there was none' }),
    to: definition.optional().meta({ description: 'the definition after the change; absent if there is none' }),
    paused: named<Pause>(pauseSchema)
      .optional()
      .meta({ description: 'the pause before the change; absent if the semaphore was not paused' }),
    /** The same in all entries of one change of many, also if it took several calls. */
    bulk: z.string().optional().meta({ description: 'the same in all entries of one change of many' }),
    part: whole.optional().meta({ description: 'of a change of many: the number of this part, from 1' }),
    undoes: z.string().optional().meta({ description: 'of an undo: the id of the entry that it undid' }),
    undoesBulk: z.string().optional().meta({ description: 'of an undo: the bulk of the entry that it undid' }),
    /**
     * `unknown`: the store gave no answer, and the call failed, so the change may have been made. `not-made`: it surely was not,
     * as a later change shows. Absent: it was made.
     */
    outcome: z.enum(CHANGE_OUTCOMES).optional().meta({
      description: 'absent if the change was made; unknown: the store gave no answer; not-made: it surely was not made',
    }),
    /** Id of the change of this semaphore that this one came after; absent if there was none. */
    follows: z.string().optional().meta({ description: 'id of the change of this semaphore before this one' }),
    permit: named<StoredPermit>(permitSchema)
      .optional()
      .meta({ description: 'the revoked permit; of a step-down or a transfer, the permit of the leader' }),
    target: nodeIdentitySchema.optional().meta({ description: 'of a transfer: the node that leads next' }),
    /** Of an order for an allocation group: the resource and the name of the node that it is about, or the confirmed set. */
    order: z
      .object({
        resource: z.string().optional().meta({
          description: 'id of the resource; absent if the order is about all resources of the node',
        }),
        node: z.string().optional().meta({ description: 'name of the node; absent if the order ends a pin' }),
        left: whole.optional().meta({
          description: 'number of the known resources that are enough for the set to count',
        }),
      })
      .optional()
      .meta({ id: 'AllocationOrder', description: 'of an order for an allocation group' }),
    job: z.string().optional().meta({ description: 'of a run that was asked for: the name of the job' }),
    task: z.string().optional().meta({
      description: 'of a change of a task or of a group: its id; of submissions and claims: the id of the first task',
    }),
    count: whole.optional().meta({ description: 'of submissions and claims: the number of tasks' }),
  })
  .meta({ id: 'AuditEntry' });

/** An entry of the audit log: a change by a person or a program. */
export interface AuditEntry extends Readonly<z.output<typeof auditEntrySchema>> {}
