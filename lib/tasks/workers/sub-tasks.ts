import { InvalidOptionsError, show } from '../../core/decision/index.js';
import type { SubTask } from '../rules/task.js';
import { LARGEST_GROUP } from '../rules/task-id.js';
import { type NewTask, type Submitted, observedSubmit } from '../rules/submission.js';
import type { TaskStore } from '../records/task-store.js';
import { LeaseExpiredError } from '../rules/tasks.errors.js';
import type { HeldTask } from './held-task.js';
import type { ChildList } from '../records/child-list.js';
import { FAMILY, childOf, familyOf, subName } from '../rules/sub-name.js';

/** The sub-tasks that one attempt submits. {@link Parents} tells how they count. */
export class SubTasks {
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
