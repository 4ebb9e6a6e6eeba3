import { z } from 'zod';
import {
  LOSS_REASONS,
  type LossReason,
  SKIP_REASONS,
  type SkipReason,
  TERM_ENDS,
  type TermEnd,
} from '../../core/context/events.js';
import { nodeIdentitySchema } from '../../core/context/node-identity.js';
import { named, time, whole } from '../../core/decision/answer-values.js';

/*
 * Runs as people and programs see them. Import only types from here in code that an application loads. A field with a
 * docstring besides its description says more there than the document of the API.
 */

const happened = {
  semaphore: z.string().meta({ description: 'name of the semaphore' }),
  /** Name of the job: "JobsService.export", or the option `job` of `run()`. */
  job: z.string().meta({ description: 'name of the job' }),
  node: nodeIdentitySchema.meta({ description: 'the node on which it ran or was skipped' }),
  /** Start of the run, or time of the skip: cluster time, ms since the epoch. */
  at: time,
};

const by = z
  .string()
  .meta({ description: 'who asked for this run; absent for a run that the scheduler or the application started' })
  .optional();
const missed = time.meta({ description: 'the planned time that was missed, if this run makes up for it' }).optional();
const run = whole.meta({ description: 'number of the run on its node and semaphore' });
const token = whole.optional().meta({ description: 'fencing token of its permit; absent if it runs without a permit' });
const slot = whole.optional().meta({ description: 'slot of its permit; absent if it runs without a permit' });

const lossSchema = z
  .object({
    /** When the node noticed it: cluster time, ms since the epoch. */
    at: time,
    reason: named<LossReason>(z.enum(LOSS_REASONS)).meta({ description: 'why it ended' }),
  })
  .meta({ id: 'PermitLoss' });

/** The end of a permit while its run went on. */
export interface PermitLoss extends Readonly<z.output<typeof lossSchema>> {}

const loss = named<PermitLoss>(lossSchema).optional();

export const runSchema = z
  .object({
    ...happened,
    kind: z.literal('run').meta({ description: 'tells a run that is over from the other entries' }),
    /** Duration of the run in ms; absent if its node no longer lives, and has written no end. */
    took: z.number().optional().meta({ description: 'ms; absent if its node no longer lives, and has written no end' }),
    /**
     * `lost`: the permit ended before the run did, whether the run succeeded, failed or never ended. `crashed`: the run began,
     * its node no longer lives, and neither an end nor the loss of its permit was written. The end replaces both if the node
     * was only cut off and writes it later.
     */
    outcome: z.enum(['ok', 'failed', 'lost', 'crashed']).meta({
      description:
        'crashed: its node no longer lives, and has written neither an end of the run nor the loss of its permit',
    }),
    message: z
      .string()
      .optional()
      .meta({ description: 'message of the error with which the run failed, cut after 500 characters' }),
    by,
    /** The planned time that was missed, if this run makes up for it: cluster time in ms. */
    missed,
    attempts: whole.optional().meta({ description: 'number of attempts; absent for a run without the option retry' }),
    token,
    slot,
    renewals: whole.optional().meta({ description: 'how often its permit was renewed; absent if it never was' }),
    /** How its permit ended before the run did. Only of a run with the outcome `lost`; absent for a term of leadership. */
    loss: loss.meta({ description: 'of the outcome lost: when and why its permit ended' }),
    ended: named<TermEnd>(z.enum(TERM_ENDS)).optional().meta({ description: 'of a term of leadership: why it ended' }),
    /** Number of the run on its node and semaphore. Absent for a term of leadership that expired. */
    run: run.optional(),
    /**
     * Only of a run without an end: the last known expiry of its permit, as cluster time in ms. Nothing else runs under the permit
     * before that. Absent if it had no permit, or if its permit ended earlier.
     */
    until: time.optional().meta({
      description:
        'of a run without an end: the last known expiry of its permit, before which nothing else runs under it; ms since the epoch, cluster time',
    }),
  })
  .meta({ id: 'Run' });

/** A run that has ended, or whose node has crashed or closed before its end. */
export interface RunEntry extends Readonly<z.output<typeof runSchema>> {}

export const runningSchema = z
  .object({
    ...happened,
    kind: z.literal('running').meta({ description: 'tells a run that goes on from the other entries' }),
    run,
    by,
    /** The planned time that was missed, if this run makes up for it: cluster time in ms. */
    missed,
    token,
    slot,
    /** How its permit ended, although the run goes on; absent while the permit is held. */
    loss: loss.meta({ description: 'when and why its permit ended, although the run goes on' }),
  })
  .meta({ id: 'Running', description: 'a run that goes on, for 2 s or more' });

/** A run that goes on, for 2 s or more. */
export interface RunningEntry extends Readonly<z.output<typeof runningSchema>> {}

const skipReason = named<SkipReason>(z.enum(SKIP_REASONS));

const skipSchema = z
  .object({
    ...happened,
    kind: z.literal('skip').meta({ description: 'tells a skip from a run' }),
    reason: skipReason.meta({ description: 'why it was skipped' }),
    before: z
      .object({
        reason: skipReason.meta({ description: 'why these runs were skipped' }),
        count: whole.meta({ description: 'number of skips in that series' }),
      })
      .meta({ id: 'EarlierSkips' })
      .optional()
      .meta({
        description:
          'the series of skips just before this one, which had another reason; absent if there was none since the last run',
      }),
  })
  .meta({ id: 'Skip' });

/**
 * The first of consecutive skips of a job on a node with the same reason. The other skips are only counted. All nodes
 * but one skip each tick, so an entry for each skip would push all other entries out of the journal.
 */
export interface SkipEntry extends Readonly<z.output<typeof skipSchema>> {}

/** A run that is over, a run that goes on, or a run that was skipped. */
export type HistoryEntry = RunEntry | RunningEntry | SkipEntry;

export const historyEntrySchema = named<HistoryEntry>(z.union([runSchema, runningSchema, skipSchema])).meta({
  id: 'HistoryEntry',
  discriminator: {
    propertyName: 'kind',
    mapping: {
      run: '#/components/schemas/Run',
      running: '#/components/schemas/Running',
      skip: '#/components/schemas/Skip',
    },
  },
});
