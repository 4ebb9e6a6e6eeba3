import { forEachLimit } from '../../async/for-each-limit.js';
import type { Context } from '../../context/context.js';
import type { Task } from '../task.js';
import { readableTask } from '../task.codec.js';
import { ALL_DEAD, type Range, allOf } from '../task-place.js';
import type { TaskStore } from '../task-store.js';

/** Tasks that one turn looks at. A store reads them at once, each with data and result. */
const ROWS = 32;
/** ms for which a task is surely remembered: a late answer to its submission must still find it. */
const SHORTEST = 60_000;
/** ms between two events. */
const QUIET = 60_000;

/** Removes a task that no other record needs. */
export type Remove = (task: Task, text: string) => Promise<void>;

/**
 * Removes ended tasks before their time while all of them together have more bytes than the option allows: first those
 * that completed, then dead letters, each in the order in which they would leave. It passes by tasks that have just ended, and
 * those whose group or parent still reads them.
 */
export class EarlyRemoval {
  /** Where the next turn begins, if this one did not reach the end. */
  #from?: string;
  /** Since the last event. */
  #removed = { count: 0, bytes: 0 };
  #toldAt = -Infinity;

  constructor(
    private readonly store: TaskStore,
    private readonly context: Pick<Context, 'events' | 'nodeClock'>,
    private readonly remove: Remove,
  ) {}

  /** @param now cluster time @returns whether there may be more to do at once @throws StoreUnavailableError */
  async turn(now: number): Promise<boolean> {
    const { retained, maxRetainedBytes } = this.store;
    if (!retained || maxRetainedBytes === undefined) return false;
    const excess = (await retained.total()) - maxRetainedBytes;
    if (excess <= 0) {
      this.#from = undefined;
      return false;
    }
    const isMore = await this.#pass(excess, now - SHORTEST);
    this.#tell(maxRetainedBytes);
    return isMore;
  }

  /** @returns whether it has not reached the last task */
  async #pass(excess: number, endedBefore: number): Promise<boolean> {
    const dead = ALL_DEAD;
    const from = this.#from ?? COMPLETED.from;
    const range: Range = from < dead.from ? { from, to: COMPLETED.to } : { from, to: dead.to };
    const rows = await this.store.timed.range(range.from, range.to, ROWS);
    let left = excess;
    await forEachLimit(rows, async ({ text }) => {
      const task = readableTask(text);
      if (left <= 0 || !task?.ending || task.ending.at > endedBefore) return;
      const bytes = Buffer.byteLength(text);
      // Before the wait: the others of this page go on meanwhile.
      left -= bytes;
      if (await this.#isNeeded(task)) {
        left += bytes;
        return;
      }
      await this.remove(task, text);
      this.#removed = { count: this.#removed.count + 1, bytes: this.#removed.bytes + bytes };
    });
    const last = rows.at(-1);
    if (rows.length === ROWS) this.#from = `${last!.text}\u0000`;
    else this.#from = range.to === COMPLETED.to ? dead.from : undefined;
    return this.#from !== undefined;
  }

  async #isNeeded({ member, sub, type }: Task): Promise<boolean> {
    if (member) return !(await this.store.groups.isOver(type, member));
    return sub !== undefined && !(await this.store.parents.isOver(sub));
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
