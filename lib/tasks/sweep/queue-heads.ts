import type { Context } from '../../core/context/context.js';
import type { TextCells } from '../../core/cell/text-cells.js';
import type { Hints } from '../records/hints.js';
import { readableTask } from '../rules/task.codec.js';
import { type WaitingPlace, leadsTo } from '../rules/task-place.js';
import type { Priority } from '../rules/task.js';
import { groupType, joinType } from '../rules/task-id.js';
import { show } from '../../core/decision/index.js';

/** Hints that are removed from one queue in one look, at most. */
const MOST_REMOVED = 100;

/** The part of the store of tasks that is needed here. */
interface HeadsStore {
  readonly hints: Pick<Hints, 'queue'>;
  readonly texts: Pick<TextCells, 'read'>;
}

/**
 * The first hints of the queues in which tasks wait, as the sweep sees them. One that stays, because no node takes it, is
 * removed if it leads to no task: the node that ended its task could not do it. Also counts the waiting tasks for telemetry
 * ({@link Backlog}), and warns of tasks that no node takes ({@link UntakenAlarm}).
 */
export class QueueHeads {
  readonly #untaken: UntakenAlarm;
  readonly #backlog: Backlog;

  constructor(
    private readonly store: HeadsStore,
    context: Context,
  ) {
    this.#untaken = new UntakenAlarm(context);
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

/** ms between two counts. */
const COUNT_INTERVAL = 10_000;

/**
 * Counts the tasks that wait, for telemetry: one small read for each queue in which the sweep has found tasks, so an idle
 * type costs nothing, and only on the node that sweeps. Does nothing without telemetry.
 */
class Backlog {
  readonly #found = new Map<string, readonly [string, Priority]>();
  /** Monotonic ms. */
  #countedAt = -Infinity;

  constructor(
    private readonly hints: Pick<Hints, 'queue'>,
    private readonly context: Pick<Context, 'instrumentation' | 'nodeClock'>,
  ) {}

  /** Call this for each queue in which tasks wait. */
  look(type: string, priority: Priority): void {
    if (this.context.instrumentation) this.#found.set(`${type}.${priority}`, [type, priority]);
  }

  /** Call this after all queues. @throws StoreUnavailableError */
  async done(): Promise<void> {
    const { instrumentation, nodeClock } = this.context;
    const queues = [...this.#found.values()];
    this.#found.clear();
    if (!instrumentation || nodeClock.monotonic() - this.#countedAt < COUNT_INTERVAL) return;
    this.#countedAt = nodeClock.monotonic();
    const waiting = new Map<string, number>();
    for (const [type, priority] of queues) {
      const of = groupType(type);
      waiting.set(of, (waiting.get(of) ?? 0) + (await this.hints.queue(type, priority).size()));
    }
    instrumentation.backlog(waiting);
  }
}

/** ms for which the first hint of a queue may stay. Nodes that handle a type look at its queues all the time. */
const UNTAKEN_AFTER = 60_000;

interface Head {
  /** The begin of the hint, which says when the task was offered. */
  readonly place: string;
  /** Monotonic ms at which it was seen first. */
  readonly since: number;
  isTold: boolean;
}

/** Warns once if tasks of a type wait, and no node takes any of them. */
class UntakenAlarm {
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
    if (!head.isTold && now - head.since >= UNTAKEN_AFTER) {
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
    `${waiting}, and no node has taken any for ${UNTAKEN_AFTER / 1000} s: start a node that handles the type, or one more if all ` +
    `are busy, or look whether the semaphore ${show(`task:${of}`)} is paused, excludes the nodes, or has no permit left`
  );
}
