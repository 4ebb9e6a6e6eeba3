import { forEachLimit } from '../../core/async/for-each-limit.js';
import type { Context } from '../../core/context/context.js';
import type { Task } from '../rules/task.js';
import { readableTask } from '../rules/task.codec.js';
import { ALL_DEAD, allOf } from '../rules/task-place.js';
import { behindText } from '../../core/store/text-batches.js';
import type { TaskStore } from '../records/task-store.js';

/** Tasks that one pass looks at. */
const ROWS = 32;
/** ms for which a task is surely remembered: a late answer to its submission must still find it. */
const SHORTEST = 60_000;
/** ms between two events. */
const QUIET = 60_000;

/** The sweep of ended tasks. */
export interface Removal {
  /** Whether a group or a parent still reads the task. */
  readonly isNeeded: (task: Task) => Promise<boolean>;
  readonly remove: (task: Task, text: string) => Promise<void>;
}

/**
 * Removes ended tasks before their time while all of them together have more bytes than the option allows: first those
 * that completed, then dead letters, each in the order in which they would leave. It passes by tasks that have just ended, and
 * those whose group or parent still reads them. Completed tasks that have just ended leave soon. Until then no dead letter leaves in
 * their place.
 */
export class EarlyRemoval {
  /** Where the next pass begins, if this one did not reach the end. */
  #from?: string;
  /** Bytes of the completed tasks of this pass that have just ended. */
  #leavingSoon = 0;
  /** Since the last event. */
  #removed = { count: 0, bytes: 0 };
  #toldAt = -Infinity;
  #hasRemoved = false;
  /** When it looks next: ms of the node's monotonic clock. */
  #next = -Infinity;

  constructor(
    private readonly store: Pick<TaskStore, 'retained' | 'paced' | 'slices'>,
    private readonly context: Pick<Context, 'events' | 'nodeClock'>,
    private readonly removal: Removal,
  ) {}

  /** @param now cluster time @returns whether there may be more to do at once @throws StoreUnavailableError */
  async runPass(now: number): Promise<boolean> {
    const { retained } = this.store;
    if (!retained) return false;
    const excess = (await retained.total()) - retained.limit;
    if (excess <= 0) {
      this.#from = undefined;
      return false;
    }
    if (this.context.nodeClock.monotonic() < this.#next) return false;
    if (this.#from === undefined) this.#hasRemoved = false;
    const isMore = await this.#pass(excess, now - SHORTEST);
    // All that are left have just ended, or are still read. That does not change soon.
    if (!isMore && !this.#hasRemoved) this.#next = this.context.nodeClock.monotonic() + SHORTEST;
    this.#tell(retained.limit);
    return isMore;
  }

  /** @returns whether it has not reached the last task */
  async #pass(excess: number, endedBefore: number): Promise<boolean> {
    const from = this.#from ?? COMPLETED.from;
    const isOfCompleted = from < ALL_DEAD.from;
    const { to } = isOfCompleted ? COMPLETED : ALL_DEAD;
    const rows = await this.store.paced.range(from, to, ROWS);
    if (from === COMPLETED.from) this.#leavingSoon = 0;
    let left = isOfCompleted ? excess : excess - this.#leavingSoon;
    await forEachLimit(rows, async ({ text }) => {
      await this.store.slices.turn(text.length);
      const task = readableTask(text);
      if (left <= 0 || !task?.ending) return;
      const bytes = Buffer.byteLength(text);
      if (task.ending.at > endedBefore) {
        if (isOfCompleted) this.#leavingSoon += bytes;
        return;
      }
      // Before the wait: the others of this page go on meanwhile.
      left -= bytes;
      if (await this.removal.isNeeded(task)) {
        left += bytes;
        return;
      }
      await this.removal.remove(task, text);
      this.#hasRemoved = true;
      this.#removed = { count: this.#removed.count + 1, bytes: this.#removed.bytes + bytes };
    });
    if (rows.length === ROWS) this.#from = behindText(rows.at(-1)!.text);
    else this.#from = to === COMPLETED.to ? ALL_DEAD.from : undefined;
    return this.#from !== undefined;
  }

  #tell(limit: number): void {
    const now = this.context.nodeClock.monotonic();
    if (this.#removed.count === 0 || now - this.#toldAt < QUIET) return;
    this.context.events.next({ type: 'tasks-removed-early', ...this.#removed, limit });
    this.#toldAt = now;
    this.#removed = { count: 0, bytes: 0 };
  }
}

const COMPLETED = allOf('finished');
