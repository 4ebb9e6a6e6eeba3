import { z } from 'zod';
import { onlyFields, show } from '../../core/decision/index.js';
import { wholeSchema } from '../../core/decision/option-types.js';
import { MOST_BYTES } from './json.js';

/** Options of distributed tasks. */
export interface TasksOptions {
  /**
   * Whether this process works on tasks. With false it takes no task and plans no tick, whatever its code handles: for scripts
   * and services that only submit. Default true.
   */
  readonly work?: boolean;
  /** Bytes of the data of a task, and of a result, as JSON: 1 to 1,048,576. Default 65,536. */
  readonly maxBytes?: number;
  /**
   * Bytes of all ended tasks in the store together, with data and results: at least 1,048,576. While there are more, the oldest
   * leave before their `retention` is over. Set the same on all nodes. Default: no limit.
   */
  readonly maxRetainedBytes?: number;
}

/** A task has its data and its result in one text, and every node reads texts of up to 4 MB. */
export const LARGEST_DATA = 1_048_576;

/** Bytes: room for some of the largest tasks. */
const SMALLEST_RETAINED = 1_048_576;

const tooSmall = ({ input }: { input?: unknown }) =>
  `${show(input)} is not a whole number from ${SMALLEST_RETAINED} on`;

/** zod type of {@link TasksOptions}. */
export const tasksSchema = onlyFields({
  work: z.boolean({ error: ({ input }) => `${show(input)} is not true or false` }).default(true),
  maxBytes: wholeSchema(1, LARGEST_DATA).default(MOST_BYTES),
  maxRetainedBytes: z.int({ error: tooSmall }).min(SMALLEST_RETAINED, { error: tooSmall }).optional(),
});
