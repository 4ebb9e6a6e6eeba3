import { decodeGroupRoot } from '../../../lib/tasks/rules/group.codec.js';
import type { VirtualTime } from '../world/virtual-time.js';
import type { TasksChecker } from './tasks-checker.js';

/** ms in which a stop reaches all members if there is no trouble; and after trouble, with all that a crash leaves to the sweep. */
const WITHIN = { calm: 1000, afterTrouble: 25_000 };

/**
 * Checks T8: after a group is stopped, attempts at its members begin no more; and the group is stopped before it counts
 * the end of a member that has the flag and did not succeed.
 */
export class StoppedGroups {
  /** Group and incarnation -> true time at which it was stopped. */
  readonly #stopped = new Map<string, number>();
  #calmSince = 0;

  constructor(
    private readonly time: VirtualTime,
    private readonly checker: TasksChecker,
  ) {}

  /** The trouble ends. */
  calm(): void {
    this.#calmSince = this.time.now;
  }

  /** A root was written. */
  observe(text: string): void {
    const { group, incarnation, stopped, state } = decodeGroupRoot(text);
    const of = `${group}/${incarnation}`;
    if (stopped && !this.#stopped.has(of)) this.#stopped.set(of, this.time.now);
    if (state !== 'joining' || stopped) return;
    for (const task of this.checker.membersOf(group, incarnation)) {
      const { id, failGroupFast, ending, cancel, member } = task;
      const isFailure = ending && ending.outcome !== 'completed' && !cancel?.isOfGroup && !member!.isOver;
      if (failGroupFast && isFailure) this.checker.violated(`T8 ${of} was not stopped, although ${id} failed`);
    }
  }

  /** A cancel of the group was answered with success. */
  expectStopped(group: string): void {
    if ([...this.#stopped.keys()].some((of) => of.startsWith(`${group}/`))) return;
    this.checker.violated(`T8 ${group} was not stopped, although the answer says so`);
  }

  /** The handler of a task begins. */
  began(id: string, wasTrouble: boolean): void {
    const task = this.checker.latest(id);
    if (!task?.member) return;
    const at = this.#stopped.get(`${id.slice(0, id.lastIndexOf('#'))}/${task.member.incarnation}`);
    if (at === undefined || task.member.isOver) return;
    const late = this.time.now - Math.max(at, this.#calmSince);
    if (late <= (wasTrouble ? WITHIN.afterTrouble : WITHIN.calm)) return;
    this.checker.violated(`T8 ${id} began ${Math.round(late)} ms after its group was stopped`);
  }
}
