import { z } from 'zod';
import { DENIAL_REASONS } from './denial.js';

/*
 * zod types of values in answers to people and programs. Answers are not checked, so these have no limits: the schemas are the
 * types, and the document of the API.
 */

export const whole = z.int().min(0);
export const time = whole.meta({ description: 'ms since the epoch, cluster time' });

/** A list in an answer. With a type argument, declarations name the type of the items in place of its fields. */
export const list = <T>(item: z.ZodType<T>): z.ZodType<readonly T[]> => z.array(item);

/** The same schema, typed by the name of its type. Declaration files then have this name in place of all fields. */
export const named = <T>(schema: z.ZodType<T>): z.ZodType<T> => schema;

/** Why no permit was granted. */
export const denialReasonSchema = z.enum(DENIAL_REASONS).meta({ id: 'DenialReason' });
