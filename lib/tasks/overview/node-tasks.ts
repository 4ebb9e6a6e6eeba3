import { z } from 'zod';
import { storedCount, storedText } from '../../core/decision/index.js';

/** Work of a node on the tasks of one type. */
export const nodeTasksSchema = z
  .object({
    /** The type. */
    type: storedText,
    /** `tasks` of the type, the end of its `groups`, or tasks of `programs` that end them over HTTP. */
    handles: z.enum(['tasks', 'groups', 'programs']),
    /** Attempts at the same time on this node; 0 for programs. */
    concurrency: storedCount,
    /** Attempts that run on this node; 0 for programs. */
    running: storedCount,
    /** Why the node takes no task of the type: `paused-here`, or why it gets no permit. Absent if it takes some. */
    obstacle: storedText.optional(),
    /** Tasks that were completed on this node in the last minute. */
    completed: storedCount,
    /** Attempts that failed on this node in the last minute. */
    failed: storedCount,
  })
  .meta({ id: 'NodeTasks' });

/**
 * Work of a node on the tasks of one type.
 *
 * @interface
 */
export type NodeTasks = z.output<typeof nodeTasksSchema>;
