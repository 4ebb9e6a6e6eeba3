import { groupType, joinType } from './task-id.js';
import { show } from '../core/decision/index.js';
import type { Context } from '../core/context/context.js';
import type { Priority } from './task.js';

/** ms for which the first hint of a queue may stay. Nodes that handle a type look at its queues all the time. */
const PATIENCE = 60_000;

interface Head {
  /** The begin of the hint, which says when the task was offered. */
  readonly place: string;
  /** Monotonic ms at which it was seen first. */
  readonly since: number;
  isTold: boolean;
}

/** Warns once if tasks of a type wait, and no node takes any of them. */
export class Untaken {
  #heads: ReadonlyMap<string, Head> = new Map();
  #next = new Map<string, Head>();

  constructor(private readonly context: Pick<Context, 'events' | 'nodeClock'>) {}

  /**
   * Call this with the first hint of each queue in which tasks wait.
   *
   * @returns whether it was there at the last look, too
   */
  look(type: string, priority: Priority, hint: string): boolean {
    const queue = `${type}.${priority}`;
    const place = hint.split('{', 1)[0]!;
    const now = this.context.nodeClock.monotonic();
    const known = this.#heads.get(queue);
    const head = known?.place === place ? known : { place, since: now, isTold: false };
    this.#next.set(queue, head);
    if (!head.isTold && now - head.since >= PATIENCE) {
      head.isTold = true;
      this.context.events.next({ type: 'tasks-untaken', task: type, priority, sentence: sentenceOf(type) });
    }
    return head === known;
  }

  /** Call this after all queues. Those without waiting tasks are forgotten. */
  done(): void {
    this.#heads = this.#next;
    this.#next = new Map();
  }
}

function sentenceOf(type: string): string {
  const of = groupType(type);
  const waiting =
    type === joinType(of) ? `groups of type ${show(of)} wait for their handler` : `tasks of type ${show(of)} wait`;
  return (
    `${waiting}, and no node has taken any for ${PATIENCE / 1000} s: start a node that handles the type, or one more if all ` +
    `are busy, or look whether the semaphore ${show(`task:${of}`)} is paused, excludes the nodes, or has no permit left`
  );
}
