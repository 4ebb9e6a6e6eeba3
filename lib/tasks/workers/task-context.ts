import { InvalidOptionsError, show } from '../../decision/index.js';
import type { NewTask } from '../submission.js';
import { type SubmitRequest, submitMany } from '../submit-many.js';
import type { SubmitOptions } from '../submit-options.js';
import { SubTasks } from '../subtasks/sub-tasks.js';
import type { TaskName } from '../task-id.js';
import type { TaskStore } from '../task-store.js';
import type { Unique } from '../unique/unique-options.js';
import type { HeldTask } from './held-task.js';
import type { TaskContext } from './task-handler.js';

/** Reads the arguments of a submission. */
export type ReadSubmission = (
  name: TaskName,
  data: unknown,
  options: SubmitOptions | undefined,
  parent: string,
) => Promise<{ readonly task: NewTask; readonly unique?: Unique }>;

const NOT_UNIQUE = 'unique: a sub-task is one task by its name. Submit it with TasksService to share it';

/** The context of one attempt. What it submits are sub-tasks. */
export function contextOf(held: HeldTask, store: TaskStore, read: ReadSubmission): TaskContext {
  const { id, type, data, token, attempts, crashes } = held.claim.task;
  const subTasks = new SubTasks(held, store);
  const submit = async (name: TaskName, subData?: unknown, options?: SubmitOptions) => {
    const { task, unique } = await read(name, subData, options, id);
    if (unique) throw new InvalidOptionsError(`sub-task ${show(task.id)}`, [NOT_UNIQUE]);
    return subTasks.submit(task);
  };
  return {
    id,
    type,
    data,
    token,
    attempt: attempts + crashes + 1,
    get signal() {
      return held.signal;
    },
    lease: held,
    progress: (done, total, note) => held.report(done, total, note),
    submit: (name, ...rest) => submit(name, ...rest),
    submitMany: (tasks) => {
      const one = (each: SubmitRequest) => submit(each?.name, each?.data, each?.options);
      return submitMany(tasks, one, () => store.slices.turn());
    },
  };
}
