import { InvalidOptionsError, show } from '../../core/decision/index.js';
import type { NewTask } from '../rules/submission.js';
import { type SubmitRequest, expectNoTransaction, expectOnlyList, submitMany } from '../records/submit-many.js';
import type { SubmitOptions, Unique } from '../rules/submit-options.js';
import { SubTasks } from './sub-tasks.js';
import { givenName } from '../rules/sub-name.js';
import type { Incarnation, Member, Task } from '../rules/task.js';
import { type TaskName, groupId, groupType } from '../rules/task-id.js';
import type { TaskStore } from '../records/task-store.js';
import type { HeldTask } from './held-task.js';
import type { MemberContext, TaskContext } from './task-handler.js';

/** Reads the arguments of a submission. */
export type ReadSubmission = (
  name: TaskName,
  data: unknown,
  options: SubmitOptions | undefined,
  parent: string,
) => Promise<{ readonly task: NewTask; readonly unique?: Unique }>;

const NOT_UNIQUE = 'unique: a sub-task is one task by its name. Submit it with TasksService to share it';

/** As {@link TaskContext.key}. A task that is counted has the incarnation of its group, and a group's handler that of its group. */
function keyOf({ id, type, member, join, sub, submittedAt }: Task): string {
  if (join) return groupKeyOf(groupType(type), join);
  return `${id}@${(member ?? sub)?.incarnation ?? submittedAt}`;
}

function groupKeyOf(type: string, { group, incarnation }: Incarnation): string {
  return `${groupId(type, group)}@${incarnation}`;
}

function memberOf(type: string, member: Member): MemberContext {
  return { group: givenName(member.group), number: member.number, groupKey: groupKeyOf(type, member) };
}

/** The context of one attempt. What it submits are sub-tasks. */
export function contextOf(held: HeldTask, store: TaskStore, read: ReadSubmission): TaskContext {
  const { id, type, data, token, attempts, crashes, member } = held.claim.task;
  const subTasks = new SubTasks(held, store);
  const submit = async (name: TaskName, subData?: unknown, options?: SubmitOptions) => {
    const { task, unique } = await read(name, subData, options, id);
    if (unique) throw new InvalidOptionsError(`sub-task ${show(task.id)}`, [NOT_UNIQUE]);
    return subTasks.submit(task);
  };
  return {
    id,
    type,
    key: keyOf(held.claim.task),
    ...(member && { member: memberOf(type, member) }),
    data,
    token,
    attempt: attempts + crashes + 1,
    get signal() {
      return held.signal;
    },
    lease: held,
    progress: (done, total, note) => held.report(done, total, note),
    submit: (name, ...rest) => submit(name, ...rest),
    submitMany: async (tasks: Parameters<TaskContext['submitMany']>[0], ...rest: readonly unknown[]) => {
      expectOnlyList(rest);
      const one = async (each: SubmitRequest) => {
        expectNoTransaction(each);
        return submit(each?.name, each?.data, each?.options);
      };
      return submitMany(tasks, one, () => store.slices.turn());
    },
  };
}
