import { forEachLimit } from '../../core/async/for-each-limit.js';
import type { Context } from '../../core/context/context.js';
import type { NodeIdentity } from '../../core/context/node-identity.js';
import type { Task } from '../rules/task.js';
import { encodeTask, readableTask } from '../rules/task.codec.js';
import { ALL_MOVABLE, type Range, behindTarget, behindType, placeOfText } from '../rules/task-place.js';
import type { RangeScanner } from './range-scanner.js';
import { behindText } from '../../core/store/text-batches.js';
import type { TaskStore } from '../records/task-store.js';
import { readdress } from '../rules/transitions.js';
import { isTarget } from '../rules/target.js';

/** A living node, and its work on tasks. */
export type LivingNode = NodeIdentity & {
  readonly tasks?: readonly { readonly type: string; readonly handles: string; readonly obstacle?: string }[];
};
/** Lists the living nodes. @throws StoreUnavailableError */
export type LivingNodes = () => Promise<readonly LivingNode[]>;

/** ms between two looks. */
const INTERVAL = 2500;
/** Targets that one pass passes, at most. The next pass goes on behind them. */
const STEPS = 100;
/** Tasks that move in one pass, at most. */
const ROWS = 250;
/** ms for which a task waits for its node although no entry of that node is seen: it may have just begun. */
const PATIENCE = 5000;

/**
 * Moves the waiting tasks whose process is gone, and whose target says `orAnother`, to living nodes that handle their type:
 *
 *     target 1 (lives) │ target 2 (gone): mail → node a, mail → node b, mail → node c, … │ target 3 (lives)
 *
 * A node that is taken for dead, and lives, loses tasks that it has not begun. That does no harm. The nodes are listed only
 * while such a task waits.
 */
export class Readdressing {
  #from = ALL_MOVABLE.from;
  /** When it looks next: ms of the node's monotonic clock. */
  #next = -Infinity;
  /** So that the nodes get tasks in turn. */
  #count = 0;

  constructor(
    private readonly store: TaskStore,
    private readonly nodes: LivingNodes,
    private readonly nodeClock: Pick<Context['nodeClock'], 'monotonic'>,
  ) {}

  /** @param now cluster time @param gaps of this turn @returns whether there may be more to do at once @throws StoreUnavailableError */
  async runPass(now: number, gaps: Pick<RangeScanner, 'first'>): Promise<boolean> {
    const at = this.nodeClock.monotonic();
    if (at < this.#next) return false;
    const isMore = await this.#look(now, gaps);
    this.#next = isMore ? -Infinity : at + INTERVAL;
    return isMore;
  }

  async #look(now: number, gaps: Pick<RangeScanner, 'first'>): Promise<boolean> {
    let living: readonly LivingNode[] | undefined;
    for (let steps = 0; steps < STEPS; steps++) {
      const first = await gaps.first(this.#from, ALL_MOVABLE.to);
      if (first === undefined) {
        this.#from = ALL_MOVABLE.from;
        return false;
      }
      const place = placeOfText(first);
      const task = readableTask(first);
      const target = task?.to;
      const from = this.#from;
      // A newer version, or another program, may have written it.
      this.#from = place && target ? behindTarget(place) : behindText(first);
      if (!place || !task || !target?.orAnother) continue;
      living ??= await this.nodes();
      if (living.some(({ instance }) => instance === target.instance)) continue;
      const able = living.filter((node) => isAble(node, task));
      this.#from = behindType(place);
      if (able.length > 0 && (await this.#moveSome({ from, to: this.#from }, able, now - PATIENCE))) return true;
    }
    return false;
  }

  /**
   * Moves the first tasks of one type and target. If all stay, the next step goes on behind them: they must not keep others
   * from moving.
   *
   * @param able nodes that may run them
   * @returns whether some have moved, and there may be more
   */
  async #moveSome({ from, to }: Range, able: readonly LivingNode[], before: number): Promise<boolean> {
    const rows = await this.store.paced.range(from, to, ROWS);
    let moved = 0;
    await forEachLimit(rows, async ({ text }) => {
      await this.store.slices.turn(text.length);
      if (await this.#move(text, able, before)) moved++;
    });
    const isFull = rows.length === ROWS;
    if (isFull) this.#from = moved > 0 ? from : behindText(rows.at(-1)!.text);
    return isFull && moved > 0;
  }

  async #move(text: string, able: readonly LivingNode[], before: number): Promise<boolean> {
    const task = readableTask(text);
    if (!task?.to || task.at > before) return false;
    const { instance } = able[this.#count++ % able.length]!;
    const next = readdress(task, { ...task.to, instance }, await this.store.stamp());
    const nextText = encodeTask(next);
    const { isWritten } = await this.store.texts.write(task.id, text, nextText);
    if (isWritten) await this.store.settle(next, nextText);
    return isWritten;
  }
}

function isAble(node: LivingNode, { type, to }: Task): boolean {
  const { instance: _gone, ...patterns } = to!;
  const isHandled = node.tasks?.some((work) => work.type === type && work.handles === 'tasks' && !work.obstacle);
  return isHandled === true && isTarget(patterns, node);
}
