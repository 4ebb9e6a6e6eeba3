import type { Incarnation, Task } from '../task.js';
import { TaskCancelledError } from '../tasks.errors.js';
import type { HeldTask } from './held-task.js';

/** The tasks whose handlers run on this node, so that a cancel from this node aborts their signals at once. */
export class RunningTasks {
  readonly #held = new Map<string, HeldTask>();

  async run<T>(held: HeldTask, handler: () => T | Promise<T>): Promise<T> {
    const { id } = held.claim.task;
    this.#held.set(id, held);
    try {
      return await handler();
    } finally {
      // A handler whose lease ended may still run while the node works on the next attempt.
      if (this.#held.get(id) === held) this.#held.delete(id);
    }
  }

  /** Numbers of the members of this incarnation that run on this node. */
  membersOf(type: string, { group, incarnation }: Incarnation): number[] {
    const tasks = [...this.#held.values()].map(({ claim }) => claim.task).filter((task) => task.type === type);
    const members = tasks.flatMap(({ member }) => member ?? []);
    return members
      .filter((each) => each.group === group && each.incarnation === incarnation)
      .map(({ number }) => number);
  }

  /** Aborts the signal of the attempt that was cancelled, if it is on this node. */
  cancel({ id, token, cancel }: Task): void {
    const held = this.#held.get(id);
    if (cancel && held?.claim.task.token === token) held.interrupt(new TaskCancelledError(id, cancel));
  }
}
