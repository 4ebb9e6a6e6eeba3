import type { Context } from '../../core/context/context.js';
import type { HintQueue } from '../../core/store/index.js';
import { SharedWork } from '../../core/async/shared-work.js';
import type { Priority, Task } from '../rules/task.js';
import { hintOf, leadsTo, placeOfText } from '../rules/task-place.js';
import type { PacedStore } from './paced-store.js';

/** Hears of addressed tasks, which have no hints. */
export interface AddressedWatch {
  /** This node has made one wait. */
  wake(): void;
  /** The sweep of this node has read whether any waits. @param at monotonic ms before it read */
  seen(isAny: boolean, at: number): void;
}

/** Hints that were not sent yet, of all queues. With more, submissions wait for them, so that they go no faster than the store. */
const MOST_UNSENT = 256;

/**
 * Hints that a task waits, in one queue per type and priority:
 *
 * | the task        | its hint                                                                                     |
 * | --------------- | -------------------------------------------------------------------------------------------- |
 * | any             | its whole text, so that a node claims it without a read                                      |
 * | has a fair key  | a ticket, the place of its text alone: its taker claims the task whose turn it is            |
 * | is addressed    | none: another node might take it. Nodes look for such tasks; this one looks at once          |
 *
 * A hint leads to its task also after the text has changed, as long as the task waits in the same queue. It leaves the queue
 * with its taker, or when the task does not wait there any more.
 */
export class Hints {
  readonly #offers = new SharedWork<string>((queue, hints) =>
    this.#observed('offer a task to the workers', () => this.storage.queue(queue).offer(hints)),
  );
  readonly #removals = new SharedWork<string>((queue, hints) =>
    this.#observed('remove the hint of a task that does not wait any more', () =>
      this.storage.queue(queue).remove(hints),
    ),
  );
  /** Calls with hints for which their submissions don't wait. */
  readonly #unsent = new Set<Promise<void>>();
  #watch: AddressedWatch = { wake: () => undefined, seen: () => undefined };

  constructor(
    private readonly storage: Pick<PacedStore, 'queue'>,
    private readonly context: Context,
  ) {}

  queue(type: string, priority: Priority): HintQueue {
    return this.storage.queue(queueName(type, priority));
  }

  /** Begins to tell what this node learns of addressed tasks. */
  watchAddressed(watch: AddressedWatch): void {
    this.#watch = watch;
  }

  /** The sweep has read whether any addressed task waits. @param at monotonic ms before it read */
  seenAddressed(isAny: boolean, at: number): void {
    this.#watch.seen(isAny, at);
  }

  /** Never rejects: the sweep finds a task whose hint was lost. */
  offer({ type, priority }: Pick<Task, 'type' | 'priority'>, text: string): Promise<void> {
    const hint = hintOf(text);
    if (hint !== undefined) return this.#offers.share(queueName(type, priority), hint);
    this.#watch.wake();
    return Promise.resolve();
  }

  /**
   * The same for a new task. Its submission waits for the hint only if no other one of the queue is on its way: many
   * submissions at the same time would wait together, then write together, and leave the store without work in between.
   *
   * @returns undefined if there is nothing to wait for
   */
  offerNew(task: Pick<Task, 'type' | 'priority'>, text: string): Promise<void> | undefined {
    const isBusy = this.#offers.isRunning(queueName(task.type, task.priority)) && this.#offers.pending < MOST_UNSENT;
    const sent = this.offer(task, text);
    if (!isBusy) return sent;
    if (!this.#unsent.has(sent)) {
      this.#unsent.add(sent);
      void sent.then(() => this.#unsent.delete(sent));
    }
    return undefined;
  }

  /** Waits until the hints of all new tasks were sent. Never rejects. */
  async sent(): Promise<void> {
    await Promise.all(this.#unsent);
  }

  /**
   * Call this when a task that may have waited was changed by no claim. Never rejects: the sweep removes a hint that stayed
   * when it comes to the head of its queue.
   *
   * @param former its text before
   * @param text its text now
   */
  async follow(former: string, text: string): Promise<void> {
    if (leadsTo(former, text)) return;
    const place = placeOfText(text);
    // First: a crash in between leaves a hint too many, and not one too few.
    if (place) await this.offer(place, text);
    await this.#withdraw(former);
  }

  async #withdraw(text: string): Promise<void> {
    const [place, hint] = [placeOfText(text), hintOf(text)];
    if (place && hint !== undefined) await this.#removals.share(queueName(place.type, place.priority), hint);
  }

  async #observed(action: string, call: () => Promise<void>): Promise<void> {
    try {
      await call();
    } catch (error) {
      this.context.events.next({ type: 'problem', action, error });
    }
  }
}

/** Name of the queue of a type and priority. */
export function queueName(type: string, priority: Priority): string {
  return `${type}.${priority}`;
}
