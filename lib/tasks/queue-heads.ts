import type { Context } from '../core/context/context.js';
import type { ConditionalTexts } from './conditional-texts.js';
import { type Hints, leadsTo } from './hints.js';
import { Backlog } from './overview/backlog.js';
import { readableTask } from './task.codec.js';
import type { WaitingPlace } from './task-place.js';
import { Untaken } from './untaken.js';

/** Hints that are removed from one queue in one look, at most. */
const MOST_REMOVED = 100;

/** The part of the store of tasks that is needed here. */
interface HeadsStore {
  readonly hints: Pick<Hints, 'queue'>;
  readonly texts: Pick<ConditionalTexts, 'read'>;
}

/**
 * The first hints of the queues in which tasks wait, as the sweep sees them. One that stays, because no node takes it, is
 * removed if it leads to no task: the node that ended its task could not do it.
 */
export class QueueHeads {
  readonly #untaken: Untaken;
  readonly #backlog: Backlog;

  constructor(
    private readonly store: HeadsStore,
    context: Context,
  ) {
    this.#untaken = new Untaken(context);
    this.#backlog = new Backlog(store.hints, context);
  }

  /** @returns undefined if the queue is empty @throws StoreUnavailableError */
  async look({ type, priority }: WaitingPlace): Promise<string | undefined> {
    const queue = this.store.hints.queue(type, priority);
    let head = await queue.peek();
    if (head === undefined) return undefined;
    this.#backlog.look(type, priority);
    if (!this.#untaken.look(type, priority, head)) return head;
    for (let removed = 0; head !== undefined && removed < MOST_REMOVED; removed++) {
      if (!(await this.#isStale(head))) break;
      await queue.remove([head]);
      head = await queue.peek();
    }
    return head;
  }

  /** Call this after all queues. @throws StoreUnavailableError */
  async done(): Promise<void> {
    this.#untaken.done();
    await this.#backlog.done();
  }

  /** A ticket names no task. */
  async #isStale(hint: string): Promise<boolean> {
    const task = readableTask(hint);
    if (!task) return false;
    const text = await this.store.texts.read(task.id);
    return text === undefined || !leadsTo(hint, text);
  }
}
