import { z } from 'zod';
import { list, time, whole } from '../../../core/decision/answer-values.js';
import { WINDOW_PHASES } from '../change-sets/window-part.js';

/*
 * Maintenance windows, and what their start and end changed. Import only types from here in code that an application loads.
 * A field with a docstring besides its description says more there than the document of the API.
 */

const name = z.string().meta({ description: 'name of the semaphore' });

const leftSchema = z.object({ name, why: z.string().meta({ description: 'why' }) }).meta({ id: 'LeftAlone' });

/** A semaphore that a call left alone, with the reason in a sentence. */
export interface LeftAlone extends Readonly<z.output<typeof leftSchema>> {}

const failedSchema = z
  .object({ name, error: z.string().meta({ description: 'message of its error' }) })
  .meta({ id: 'FailedChange' });

/** A semaphore that could not be changed, with its error. */
export interface FailedChange extends Readonly<z.output<typeof failedSchema>> {}

const heldSchema = z
  .object({ semaphore: name, permits: whole.meta({ description: 'number of its held permits' }) })
  .meta({ id: 'HeldCount' });

/** Number of held permits of one semaphore. */
export interface HeldCount extends Readonly<z.output<typeof heldSchema>> {}

const phase = z.enum(WINDOW_PHASES);
const window = z.string().meta({ description: 'name of the window' });
const reason = z.string().optional().meta({ description: 'the reason that was given' });
const by = z.string().meta({ description: 'name of the person or program that started it' });

export const windowSchema = z
  .object({
    window,
    patterns: list(z.string()).meta({ description: 'RE2; each must match the whole name of a semaphore' }),
    reason,
    by,
    /** Cluster time of the start in ms. */
    since: time,
    /** `starting` and `ending`: the command was not carried out completely; repeat it. */
    phase: phase.meta({ description: 'starting, ending: repeat the call to continue' }),
    paused: whole.meta({ description: 'number of semaphores that it has paused' }),
    /** Names that are paused by this window, and that its end will resume, unless another window wants them paused. */
    semaphores: list(z.string()).meta({ description: 'the paused ones; in the list of windows the first 100' }),
    /** Names that it had paused, and that changed since. Its end will leave them alone. */
    left: list<LeftAlone>(leftSchema).meta({
      description: 'what it had paused, and what changed since: its end leaves it alone',
    }),
    permits: whole.meta({ description: 'permits that are still held, of all names that match' }),
    held: list<HeldCount>(heldSchema).meta({
      description: 'names that match and still have held permits, each with their number',
    }),
    notPaused: whole.meta({ description: 'number of names that match and are not paused' }),
    /** Names that match and are not paused: defined or resumed since the start, or used without a definition. */
    running: list(z.string()).meta({ description: 'names that match and are not paused' }),
    /** Those of `running` that the same start would pause now: defined since. */
    due: list(z.string()).meta({ description: 'those of `running` that the same start would pause now' }),
    unreadable: list(z.string()).meta({ description: 'names that match and whose records can not be read' }),
    /** Whether nothing that matches holds a permit or can take one. */
    isQuiet: z.boolean().meta({ description: 'nothing that matches holds a permit or can take one' }),
    sentence: z.string().meta({ description: 'the state in a sentence' }),
  })
  .meta({ id: 'MaintenanceWindow' });
const stateSchema = windowSchema.omit({ paused: true, notPaused: true });

/** The present state of a maintenance window. */
export interface MaintenanceWindow extends Readonly<z.output<typeof stateSchema>> {}

export const openWindowSchema = z
  .object({
    window,
    reason,
    by,
    /** Cluster time of the start in ms. */
    since: time,
    /** `starting` and `ending`: the command was not carried out completely; repeat it. */
    phase,
  })
  .meta({ id: 'OpenWindow' });
const listedSchema = openWindowSchema.extend({
  /** Names that it has paused, or was about to, also those that changed since. */
  listed: list(z.string()),
});

/** A window as it was started. */
export interface OpenWindow extends Readonly<z.output<typeof listedSchema>> {}

const bulk = z.string().meta({ description: 'shared by the entries of this change in the audit log' });

export const maintenanceStartSchema = z
  .object({
    paused: list(z.string()).meta({ description: 'names that this call paused' }),
    /** Names that another window had paused. They stay paused until both windows have ended. */
    shared: list(z.string()).meta({ description: 'paused by another window: they stay so until both have ended' }),
    left: list<LeftAlone>(leftSchema).meta({
      description:
        'names that match and were paused before, or that changed since the window paused them. Its end leaves them alone',
    }),
    failed: list<FailedChange>(failedSchema).meta({
      description: 'names that could not be paused, each with its error',
    }),
    remaining: whole.meta({ description: 'number of semaphores that are left for the next call' }),
    /** The id that all pauses of the window share in the audit log. */
    bulk,
  })
  .meta({ id: 'MaintenanceStart' });

/** Result of the start of a window. */
export interface MaintenanceStart extends Readonly<z.output<typeof maintenanceStartSchema>> {}

export const maintenanceEndSchema = z
  .object({
    resumed: list(z.string()).meta({ description: 'names that were resumed' }),
    left: list<LeftAlone>(leftSchema).meta({
      description:
        'names that the window had paused and that were left alone: changed since, or wanted by another window',
    }),
    failed: list<FailedChange>(failedSchema).meta({
      description: 'names that could not be resumed, each with its error',
    }),
    remaining: whole.meta({
      description:
        'number of semaphores that are left for the next call. The window has ended when there are none and none failed',
    }),
    /** The id that all resumes of this end share in the audit log. */
    bulk,
  })
  .meta({ id: 'MaintenanceEnd' });

/** Result of the end of a window. */
export interface MaintenanceEnd extends Readonly<z.output<typeof maintenanceEndSchema>> {}
