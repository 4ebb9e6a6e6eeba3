import type { Context } from '../../core/context/context.js';
import type { HintQueue, QueuedHint } from '../../core/store/index.js';
import { SharedWork } from '../../core/async/shared-work.js';
import type { Priority, Task } from '../rules/task.js';
import { hintOf, isSameQueue, kindOfText, leadsTo, placeOfText } from '../rules/task-place.js';
import type { PacedStore } from './paced-store.js';

/** Hears of addressed tasks, which have no hints. */
export interface AddressedWatch {
  /** This node has made one wait. */
  wake(): void;
  /** The sweep of this node has read whether any waits. @param at monotonic ms before it read */
  seen(isAny: boolean, at: number): void;
}

/**
 * Hints that a task waits, in one queue per type and priority:
 *
 * | the task        | its hint                                                                                     |
 * | --------------- | -------------------------------------------------------------------------------------------- |
 * | any             | its whole text, so that a node claims it without a read                                      |
 * | has a fair key  | a ticket, the place of its text alone: its taker claims the task whose turn it is            |
 * | is addressed    | none: another node might take it. Nodes look for such tasks; this one looks at once          |
 *
 * It goes with the write by which the task begins to wait, or gets another time: see {@link hintOfWrite}.
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

  /**
   * Call this after each write of a task.
   *
   * @param isSeen whether only a look has shown the write: the store may have made it in two steps, and not have come to the hint
   */
  written(former: string | undefined, next: string | undefined, isSeen: boolean): void {
    if (next !== undefined && kindOfText(next) === 'addressed') this.#watch.wake();
    const carried = isSeen ? hintOfWrite(former, next) : undefined;
    if (carried) void this.#offers.share(carried.queue, carried.hint);
  }

  /** Offers the hint of a task without a write of it. Never rejects: the sweep finds a task whose hint was lost. */
  async offer({ type, priority }: Pick<Task, 'type' | 'priority'>, text: string): Promise<void> {
    const hint = hintOf(text);
    if (hint !== undefined) await this.#offers.share(queueName(type, priority), hint);
  }

  /**
   * Call this when a task that may have waited was changed by no claim. Never rejects: the sweep removes a hint that stayed
   * when it comes to the head of its queue.
   *
   * @param former its text before
   * @param text its text now
   */
  async withdraw(former: string, text: string): Promise<void> {
    if (leadsTo(former, text)) return;
    const [place, hint] = [placeOfText(former), hintOf(former)];
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

/**
 * The hint that goes with the write of a text. None if the former hint leads to it: the task waits in the same queue, and since the
 * same time, which is that of its last hint.
 */
export function hintOfWrite(former: string | undefined, next: string | undefined): QueuedHint | undefined {
  if (next === undefined || kindOfText(next) === undefined) return undefined;
  const [place, hint] = [placeOfText(next), hintOf(next)];
  if (!place || hint === undefined) return undefined;
  const before = former === undefined ? undefined : placeOfText(former);
  if (before && isSameQueue(before, place) && before.at === place.at) return undefined;
  return { queue: queueName(place.type, place.priority), hint };
}

/** Name of the queue of a type and priority. */
function queueName(type: string, priority: Priority): string {
  return `${type}.${priority}`;
}
