import { z } from 'zod';
import { type HolderState, auditActionSchema, holderSchema } from '../../core/context/answers.js';
import { nodeIdentitySchema } from '../../core/context/node-identity.js';
import {
  type DefinitionChange,
  type Pause,
  type SemaphoreDefinition,
  changeSchema,
  definitionSchema,
  pauseSchema,
} from '../../core/decision/answers.js';
import { list, named, time, whole } from '../../core/decision/answer-values.js';
import { SOURCES } from '../../core/decision/change-kinds.js';

/*
 * A definition with its origin, and changes of many definitions. Import only types from here in code that an application loads.
 * A field with a docstring besides its description says more there than the document of the API.
 */

const definition = named<SemaphoreDefinition>(definitionSchema);

export const definitionStateSchema = z
  .object({
    definition: definition.meta({ description: 'the definition; during a pause its group pattern matches no group' }),
    revision: whole.meta({ description: 'grows by one with each change of the definition' }),
    source: z
      .enum(SOURCES)
      .optional()
      .meta({
        description:
          '`code`: the definition follows the code of the living nodes. `operator`: it stays until an operator changes it, or ' +
          'resets it to the code. Absent if only calls that hold its permits define it',
      }),
    change: named<DefinitionChange>(changeSchema)
      .optional()
      .meta({ description: 'the last change; absent if the definition is as code declared it' }),
    pause: named<Pause>(pauseSchema).optional().meta({
      description: 'present during a pause; contains the group pattern that applies afterwards',
    }),
    code: definition.optional().meta({ description: "the definition in this node's code, if any" }),
    isOverridden: z.boolean().meta({
      description:
        "whether the definition differs from this node's code, apart from pauses; `reset` restores the one in code",
    }),
  })
  .meta({ id: 'DefinitionState' });

/** The current definition and its origin. */
export interface DefinitionState extends Readonly<z.output<typeof definitionStateSchema>> {}

const failureSchema = z
  .object({
    name: z.string().meta({ description: 'name of the semaphore' }),
    error: z.string().meta({ description: 'message of its error' }),
  })
  .meta({ id: 'BulkFailure' });

const bulk = z.string().meta({ description: 'shared by the entries of this change in the audit log' });
const remaining = whole.meta({ description: 'how many are left for the next call, because of the limit' });

export const bulkSchema = z
  .object({
    done: list(z.string()).meta({ description: 'names of the semaphores that were changed' }),
    failed: list(failureSchema).meta({
      description:
        "semaphores that were not changed, each with its error. Each call also names those whose records can't be read",
    }),
    remaining: whole.meta({ description: 'number of semaphores that are left for the next call' }),
    /** The id that all entries of this change share in the audit log. `undo` takes it. */
    bulk,
  })
  .meta({ id: 'BulkResult' });

/** The outcome of a bulk change, by name. */
export interface BulkResult extends Readonly<z.output<typeof bulkSchema>> {}

const patternsSchema = z
  .object({
    groupPattern: z.string().meta({ description: "RE2; must match the node's whole group" }),
    acquirerPattern: z.string().meta({ description: "RE2; must match the acquirer's whole name" }),
  })
  .meta({ id: 'Patterns' });

/** Patterns of a definition. */
export interface Patterns extends Readonly<z.output<typeof patternsSchema>> {}

const migrationStepSchema = z
  .object({
    name: z.string().meta({ description: 'name of the semaphore' }),
    revision: whole.meta({
      description: 'the revision that the plan was made for. If another change came first, the step fails',
    }),
    from: named<Patterns>(patternsSchema).meta({ description: 'the patterns before' }),
    to: named<Patterns>(patternsSchema).meta({ description: 'the patterns after' }),
    moving: list<HolderState>(holderSchema).meta({ description: 'holders that will no longer match' }),
    candidates: list(nodeIdentitySchema).meta({ description: 'the first 10 living nodes that will match' }),
    candidateCount: whole.meta({ description: 'number of all living nodes that will match' }),
    outcome: z
      .enum(['planned', 'migrated', 'failed'])
      .meta({ description: '`planned` in a plan; afterwards `migrated` or `failed`' }),
    error: z.string().optional().meta({ description: "the error's message, for a failed step" }),
  })
  .meta({ id: 'MigrationStep' });

/** The change that a migration makes to one definition. */
export interface MigrationStep extends Readonly<z.output<typeof migrationStepSchema>> {}

export const migrationSchema = z
  .object({
    steps: list<MigrationStep>(migrationStepSchema).meta({
      description: 'in the order of names. Only definitions that would change, so that a repeated call continues',
    }),
    remaining,
    /** Matching semaphores that no call changes, because their records can't be read: each with its error. */
    unreadable: list(failureSchema).meta({
      description: 'semaphores that match and stay as they are: their records can not be read',
    }),
    /** After a migration: the id that all its entries share in the audit log. `undo` takes it. */
    bulk: bulk.optional(),
  })
  .meta({ id: 'MigrationPlan' });

/** The changes that a migration makes. */
export interface MigrationPlan extends Readonly<z.output<typeof migrationSchema>> {}

const undoStepSchema = z
  .object({
    name: z.string().meta({ description: 'name of the semaphore' }),
    entry: z.string().meta({ description: 'id of the entry' }),
    action: auditActionSchema.meta({ description: 'the kind of change that the entry is about' }),
    kind: changeSchema.shape.kind.meta({ description: 'the kind of change that undoes it' }),
    from: definition.optional().meta({ description: 'the present definition; absent if there is none' }),
    to: definition.optional().meta({ description: 'the definition afterwards; absent if there will be none' }),
    isPaused: z.boolean().meta({ description: 'whether the semaphore is paused now' }),
    willBePaused: z.boolean().meta({ description: 'whether the semaphore will be paused afterwards' }),
    /** Number of held permits that the undo takes away, because it removes the definition. */
    revokes: whole.meta({ description: 'held permits that the undo takes away' }),
    outcome: z.enum(['planned', 'undone', 'unchanged', 'left', 'failed']).meta({
      description:
        '`planned` in a plan; afterwards `undone` or `failed`. `unchanged`: it is as before the change already. `left`: left ' +
        'alone, because it has changed since',
    }),
    /** Of a step that was left alone or failed: the reason, in a sentence. */
    why: z.string().optional().meta({ description: 'of a step that was left alone or failed' }),
  })
  .meta({ id: 'UndoStep' });

/** The edit that undoes one entry of the audit log. */
export interface UndoStep extends Readonly<z.output<typeof undoStepSchema>> {}

export const undoSchema = z
  .object({
    id: z.string().meta({ description: 'id of the entry, or of the change of many' }),
    by: z.string().meta({ description: 'the author of the change that is undone' }),
    /** Cluster time of the change in ms; of a change of many: of its begin. */
    at: time,
    reason: z.string().optional().meta({ description: 'the reason of the change' }),
    steps: list<UndoStep>(undoStepSchema).meta({ description: 'one for each entry, in the order of names' }),
    remaining,
    missing: whole.meta({
      description: 'number of parts of a change of many that are not undone: the store has lost what was before them',
    }),
    /** After a change: the id that its entries share. The undo can be undone with it. */
    bulk: bulk.optional(),
  })
  .meta({ id: 'UndoPlan' });

/** The changes that an undo makes, by name. */
export interface UndoPlan extends Readonly<z.output<typeof undoSchema>> {}
