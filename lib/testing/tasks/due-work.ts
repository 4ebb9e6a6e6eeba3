import { partsOf } from '../../gatekeeper/index.js';
import { isTarget } from '../../tasks/rules/target.js';
import { decodeTask } from '../../tasks/rules/task.codec.js';
import {
  ALL_ADDRESSED,
  behindType,
  deadRange,
  placeOfText,
  rangeOf,
  waitingRange,
} from '../../tasks/rules/task-place.js';
import { type TaskView, PRIORITIES, viewOf } from '../../tasks/index.js';
import type { OrderedTable } from '../../stores/memory/text-table.js';
import { joinType } from '../../tasks/rules/task-id.js';
import { TaskStore } from '../../tasks/records/task-store.js';
import { TaskSweep } from '../../tasks/sweep/task-sweep.js';
import type { TestNode } from './test-node.js';

/** Later than any time of a test, with the 16 digits of the times in texts. */
const ALWAYS = 9_000_000_000_000_000;

/** A time at which tasks need a sweep, and the text that needs it. */
export interface Due {
  /** Cluster time in ms. */
  readonly at: number;
  readonly text: string;
}

/** The tasks of a test as they stand in the store: when the next ones are due. */
export class DueWork {
  constructor(private readonly texts: OrderedTable) {}

  /** The first task that becomes due by time alone: delayed, or claimed by a node that may have crashed. */
  next(tolerance: number): Due | undefined {
    const delayed = this.#first('delayed');
    const claimed = this.#first('claimed', tolerance);
    return !delayed || (claimed && claimed.at < delayed.at) ? claimed : delayed;
  }

  /** The next time at which the sweep has anything to do; Infinity if there is none. */
  get sweptAt(): number {
    const states = ['delayed', 'claimed', 'blocked', 'awaiting', 'done'] as const;
    return Math.min(...states.map((state) => this.#first(state)?.at ?? Infinity));
  }

  /** Whether a task waits for a node, and one of these takes it. */
  isWaitingFor(nodes: readonly TestNode[]): boolean {
    const isWaiting = nodes
      .flatMap(keysOf)
      .some((key) =>
        PRIORITIES.some((priority) => this.texts.range(...waitingRange(key, priority, ALWAYS), 1).length > 0),
      );
    return isWaiting || this.#isAddressedTo(nodes);
  }

  /** Tasks that ended without success, and are remembered. */
  deadLetters(): TaskView[] {
    const ranges = [rangeOf('done', ALWAYS), deadRange(ALWAYS)];
    const ended = ranges.flatMap((range) => this.texts.range(...range, ALWAYS));
    const views = ended.map(({ text }) => viewOf(decodeTask(text)));
    return views.filter(({ state }) => state !== 'completed').toSorted((one, other) => one.endedAt! - other.endedAt!);
  }

  /** Nodes look for such tasks about once a second only. All of one target and type go to the same nodes. */
  #isAddressedTo(nodes: readonly TestNode[]): boolean {
    for (let { from } = ALL_ADDRESSED; ;) {
      const [first] = this.texts.range(from, ALL_ADDRESSED.to, 1);
      if (!first) return false;
      const { type, to } = decodeTask(first.text);
      if (nodes.some((node) => isTarget(to!, node.node) && keysOf(node).includes(type))) return true;
      from = behindType(placeOfText(first.text)!);
    }
  }

  #first(state: Parameters<typeof rangeOf>[0], later = 0): Due | undefined {
    const [first] = this.texts.range(...rangeOf(state, ALWAYS), 1);
    if (!first) return undefined;
    // A sweep takes those whose time is before the present.
    return { at: Number(first.text.split('|', 2)[1]) + later + 1, text: first.text };
  }
}

/** Types of the records of the tasks that a node takes now. */
function keysOf(node: TestNode): string[] {
  const types = node.tasks.handlers.types().filter(({ obstacle }) => !obstacle);
  return types.map(({ type, handles }) => (handles === 'groups' ? joinType(type) : type));
}

/** Does at once what the node that sweeps does every second. */
export async function sweepNow(node: TestNode): Promise<void> {
  const { context } = partsOf(node);
  const sweep = new TaskSweep(new TaskStore(context), context);
  await sweep.due(0);
  await sweep.runPass();
}

/** The next planned time of the schedules of a node; Infinity if it has none. */
export async function nextTick(node: TestNode): Promise<number> {
  const schedules = await node.tasks.schedules.list();
  return Math.min(...schedules.map(({ isHere, next = Infinity }) => (isHere ? next : Infinity)));
}
