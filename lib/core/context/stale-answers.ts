import { z } from 'zod';
import { list, time } from '../decision/answer-values.js';

/*
 * The parts of an answer that are out of date. Import only types from here in code that an application or a browser loads.
 * A field with a docstring besides its description says more there than the document of the API.
 */

const stalePartSchema = z
  .object({
    part: z.enum(['records', 'nodes', 'runs', 'audit']).meta({
      description: 'the part: `records` are the semaphores, `runs` the history, `audit` the audit log',
    }),
    /**
     * Time of the last complete reading: ms since the epoch, cluster time. What changed later may be missing. Absent if
     * there was none; then only the data are known that this node has used.
     */
    since: time.optional().meta({
      description: 'cluster time of the data that are shown instead; absent if there was no complete reading',
    }),
    sentence: z.string().meta({ description: 'why it could not be read, for people' }),
  })
  .meta({ id: 'StalePart' });

/** A part of an answer that could not be read now; it shows the last state that this node knows. */
export interface StalePart extends Readonly<z.output<typeof stalePartSchema>> {}

/** `records` are the semaphores, `runs` the history, `audit` the audit log. */
export type StalePartName = StalePart['part'];

const maybeStaleSchema = z.object({
  stale: list<StalePart>(stalePartSchema)
    .optional()
    .meta({ description: 'the parts that could not be read now; absent if all is current' }),
});

/** The field of each answer of which parts may be out of date. */
export const staleShape = maybeStaleSchema.shape;

/** An answer that says which of its parts are out of date. Every answer says it in this way, and only in this way. */
export interface MaybeStale extends Readonly<z.output<typeof maybeStaleSchema>> {}
