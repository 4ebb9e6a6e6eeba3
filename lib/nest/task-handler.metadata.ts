import { sharedKey } from '../core/copies/shared.js';
import type { GroupHandlerOptions, TaskType } from '../tasks/index.js';

/** Metadata on a method that handles tasks: a list of {@link TaskHandlerMetadata}. */
export const TASK_HANDLER = sharedKey('task-handler');

/** One decorator on a method, as written; checked when the application boots. */
export type TaskHandlerMetadata =
  | { readonly kind: 'task' | 'group'; readonly task: TaskType; readonly options?: GroupHandlerOptions | undefined }
  | { readonly kind: 'invalid' };
