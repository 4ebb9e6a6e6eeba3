import { InvalidOptionsError, show, NewerRecordError } from '../../core/decision/index.js';
import type { Submitted } from '../rules/answers.js';
import type { NewTask } from '../rules/submission.js';
import { observedSubmit } from '../records/submitting.js';
import { type SubmitRequest, expectNoTransaction, expectOnlyList, submitMany } from '../records/submit-many.js';
import type { SubmitOptions, Unique } from '../rules/submit-options.js';
import { givenName, FAMILY, childOf, familyOf, subName } from '../rules/sub-name.js';
import type { Incarnation, Member, Task, SubTask } from '../rules/task.js';
import { type TaskName, groupId, groupType, LARGEST_GROUP, memberId } from '../rules/task-id.js';
import type { TaskStore } from '../records/task-store.js';
import type { HeldTask } from './held-task.js';
import type { MemberContext, TaskContext, EndedMember, GroupContext } from './task-handler.js';
import { LeaseExpiredError, InvalidTaskError, RetryLaterError } from '../rules/tasks.errors.js';
import type { ChildList } from '../records/child-list.js';
import { isStoreError } from '../../core/store/index.js';
import { decodeTask } from '../rules/task.codec.js';
import type { GroupCounts } from '../rules/task-parts.js';

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

/** The sub-tasks that one attempt submits. `Parents` tells how they count. */
class SubTasks {
  #opening?: Promise<ChildList>;

  constructor(
    private readonly held: HeldTask,
    private readonly store: TaskStore,
  ) {}

  /**
   * Submits a sub-task. The same name again is the same sub-task, also in the next attempt.
   *
   * @throws LeaseExpiredError if this attempt is over
   * @throws InvalidOptionsError if members of a group disagree on the total
   * @throws StoreUnavailableError, UnknownOutcomeError, CorruptRecordError, NewerRecordError
   */
  async submit(task: NewTask): Promise<Submitted> {
    const sub = await this.#placeOf(childOf(task));
    await this.#expectNotLate(sub);
    const named = subName(task, sub.parent);
    const submitted = await observedSubmit(this.store.context, named, async (traced) => {
      const answer = await this.store.parents.submit(traced, sub);
      if (!answer) throw this.#late();
      return answer;
    });
    this.held.claim.confirmed.add(submitted.id);
    return submitted;
  }

  async #placeOf(entry: string): Promise<SubTask> {
    this.held.signal.throwIfAborted();
    const list = await (this.#opening ??= this.#open());
    const number = await list.numberOf(entry);
    if (number === undefined) throw this.#late();
    if (number > LARGEST_GROUP) {
      throw new InvalidOptionsError(`task ${show(this.#id)}`, [`it has more than ${LARGEST_GROUP} sub-tasks`]);
    }
    return { parent: this.#id, incarnation: this.held.claim.task.split!, number };
  }

  async #open(): Promise<ChildList> {
    try {
      const family = familyOf(this.#id, await this.held.split());
      if (!(await this.store.groups.begin(FAMILY, family, {}))) throw this.#late();
      return this.store.parents.listOf(family);
    } catch (error) {
      // The next sub-task tries it again.
      this.#opening = undefined;
      throw error;
    }
  }

  /** The list had to be written first: this attempt may be over now, and its parent forgotten. */
  async #expectNotLate(sub: SubTask): Promise<void> {
    const { signal } = this.held;
    if (signal.aborted) await this.store.parents.removeIfGone(sub);
    signal.throwIfAborted();
  }

  #late(): LeaseExpiredError {
    return new LeaseExpiredError(this.#id, 'its handler has ended, here or on another node');
  }

  get #id(): string {
    return this.held.claim.task.id;
  }
}

/** ms before the handler of a group that is over looks again at a member that runs again. */
const RETRY = 5000;
/** ms before a group is looked at again that this node could not read. */
const UNREAD = 1000;
/** Members on one page: each text may be as large as the largest result. */
const PAGE = 20;

/**
 * The context of a group's handler. The handler has not begun, so what this node can't read now counts as no failure of it.
 *
 * @returns undefined if the handler must not run: a write of its creation was applied late, after the group was closed
 * @throws RetryLaterError, InvalidTaskError, CorruptRecordError
 */
export async function readGroup(context: TaskContext, task: Task, store: TaskStore): Promise<GroupContext | undefined> {
  try {
    return (await store.settling.isStaleJoin(task)) ? undefined : await groupContextOf(context, task, store);
  } catch (error) {
    // A node of a newer version can read what this one can't.
    throw isStoreError(error) || error instanceof NewerRecordError ? new RetryLaterError(UNREAD) : error;
  }
}

async function groupContextOf(context: TaskContext, task: Task, store: TaskStore): Promise<GroupContext> {
  const type = groupType(task.type);
  const { group, isOver } = task.join!;
  const { total, failed } = isOver
    ? await recount(store, type, task.join!)
    : await store.groups.counts(type, task.join!);
  const { data: _none, member: _of, ...others } = context;
  return {
    ...others,
    type,
    group: givenName(group),
    total,
    failed,
    completed: total - failed,
    members: () => readMembers(store, type, task.join!, total),
  };
}

/**
 * The counts of a group that is over, and whose handler runs again by hand. Its members may have been tried again since,
 * so their records count. All are read first, so that the handler does not begin with members that are forgotten.
 *
 * @throws InvalidTaskError, RetryLaterError
 */
async function recount(store: TaskStore, type: string, join: Incarnation): Promise<GroupCounts> {
  const root = await store.groups.find(type, join);
  if (!root) throw new InvalidTaskError(`group ${join.group} was submitted again, or is no longer remembered`);
  const { total = 0 } = root;
  let failed = 0;
  for await (const { outcome } of readMembers(store, type, join, total)) if (outcome !== 'completed') failed++;
  return { total, failed };
}

async function* readMembers(
  store: TaskStore,
  type: string,
  { group, incarnation, isOver }: Incarnation,
  total: number,
): AsyncGenerator<EndedMember> {
  for (let first = 1; first <= total; first += PAGE) {
    const numbers = Array.from({ length: Math.min(PAGE, total - first + 1) }, (_, place) => first + place);
    const texts = await store.texts.readMany(numbers.map((number) => memberId(type, group, number)));
    for (const number of numbers) {
      await store.slices.turn();
      const id = memberId(type, group, number);
      const text = texts.get(id);
      const task = text === undefined ? undefined : decodeTask(text);
      if (isOver) expectRemembered(id, task, incarnation);
      // The store keeps it until the group is closed. So it was lost with data of the store.
      if (!task) throw new Error(`member ${id} of the group was lost with data of the store`);
      const { ending, error } = task;
      const { outcome = 'completed', result } = ending ?? {};
      yield { number, id, outcome, ...(result !== undefined && { result }), ...(error && { error }) };
    }
  }
}

function expectRemembered(id: string, task: Task | undefined, incarnation: number): void {
  if (task?.member?.incarnation !== incarnation) {
    throw new InvalidTaskError(`member ${id} is no longer remembered: submit the group again`);
  }
  // It was tried again by hand, too.
  if (!task.ending) throw new RetryLaterError(RETRY);
}
