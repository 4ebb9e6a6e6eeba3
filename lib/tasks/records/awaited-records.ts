import type { Slices } from '../../core/async/slices.js';
import type { Context } from '../../core/context/context.js';
import { InvalidOptionsError, show } from '../../core/decision/index.js';
import { MOST_KEYS } from '../../core/store/index.js';
import type { TextCells } from '../../core/cell/text-cells.js';
import type { Groups } from './groups/groups.js';
import { type GroupRoot, wasAbandoned } from '../rules/group.js';
import { decodeGroupRoot, encodeGroupRoot, rootKey } from '../rules/group.codec.js';
import type { Outcome, Task } from '../rules/task.js';
import { isGroupId, isTaskId } from '../rules/task-id.js';
import { decodeTask, encodeTask, readableTask } from '../rules/task.codec.js';
import { type Stamp, bornOf, hasEnded, type EndedAwaited, withDependent } from '../rules/transitions.js';

/** Dependents of one task or group. Each write of its record writes them again. */
const MOST_DEPENDENTS = 1000;

/** The latest life of a task or group, as its record says. */
interface FoundAwaited {
  readonly life: string;
  /** How it ended; absent before. */
  readonly outcome?: Outcome;
  /** The life before, if it did not complete. */
  readonly former?: Task['formerFailure'];
  /** Ids of the tasks that may wait for its end. */
  readonly dependents: readonly string[];
}

/** The part of the store of tasks that is needed here. */
export interface AwaitedStore {
  readonly texts: TextCells;
  readonly groups: Groups;
  readonly slices: Pick<Slices, 'turn'>;
  readonly context: Pick<Context, 'events'>;
  readonly settling: { endMemberless(group: string): Promise<boolean> };
  stamp(): Promise<Stamp>;
  find(id: string): Promise<Task | undefined>;
  settle(task: Task, text: string): Promise<void>;
}

/** The records of tasks and groups for whose end others wait. */
export class AwaitedRecords {
  constructor(private readonly store: AwaitedStore) {}

  /** @returns undefined if it is not in the store */
  async find(id: string): Promise<FoundAwaited | undefined> {
    if (!isGroupId(id)) {
      const task = await this.store.find(id);
      if (!task) return undefined;
      const end = hasEnded(task) && task.ending && { outcome: task.ending.outcome };
      return { life: bornOf(task), ...end, former: task.formerFailure, dependents: task.dependents ?? [] };
    }
    const root = await this.#root(id);
    if (!root) return undefined;
    const found = { life: String(root.incarnation), dependents: root.dependents ?? [] };
    return root.state === 'closed' ? { ...found, outcome: await this.#outcomeOf(root) } : found;
  }

  /** The dependents of a group that is closed; undefined if it has none. */
  async findClosed(id: string): Promise<{ dependents: readonly string[]; ended: EndedAwaited } | undefined> {
    const root = await this.#root(id);
    if (root?.state !== 'closed' || !root.dependents) return undefined;
    const ended = { id, life: String(root.incarnation), outcome: await this.#outcomeOf(root) };
    return { dependents: root.dependents, ended };
  }

  /**
   * Notes that a task waits for the end of this one, unless it has ended. Idempotent.
   *
   * @param most dependents
   * @returns as it stood before; undefined if it is not in the store
   * @throws InvalidOptionsError if it has too many dependents
   */
  add(id: string, dependent: string, most = MOST_DEPENDENTS): Promise<FoundAwaited | undefined> {
    return isGroupId(id) ? this.#addToGroup(id, dependent, most) : this.#addToTask(id, dependent, most);
  }

  async #addToTask(id: string, dependent: string, most: number): Promise<FoundAwaited | undefined> {
    const { texts } = this.store;
    if (!isTaskId(id)) return undefined;
    return texts.change<FoundAwaited | undefined>(id, async (text) => {
      if (text === undefined) return { result: undefined };
      const task = decodeTask(text);
      const { dependents = [] } = task;
      if (hasEnded(task) || dependents.includes(dependent)) return { result: await this.find(id) };
      const others = await this.#withRoom(id, dependents, most);
      const next = withDependent({ ...task, dependents: others }, dependent, (await this.store.stamp()).nonce);
      const write = encodeTask(next);
      return { write, done: () => ({ life: bornOf(task), dependents }) };
    });
  }

  async #addToGroup(id: string, dependent: string, most: number): Promise<FoundAwaited | undefined> {
    const { texts, id: newNonce } = this.store.groups.parts;
    return texts.change<FoundAwaited | undefined>(rootKey(id), async (text) => {
      if (text === undefined) return { result: undefined };
      const root = decodeGroupRoot(text);
      const { dependents = [], incarnation } = root;
      if (root.state === 'closed' || dependents.includes(dependent)) return { result: await this.find(id) };
      const others = await this.#withRoom(id, dependents, most);
      const next = { ...root, dependents: [...others, dependent], nonce: newNonce() };
      return { write: encodeGroupRoot(next), done: () => ({ life: String(incarnation), dependents }) };
    });
  }

  /**
   * The dependents if there is room for one more. If not, those that have ended since leave: they were cancelled, say. One of
   * them may be submitted again at that moment. Then its own looks find the end.
   *
   * @throws InvalidOptionsError if there is no room
   */
  async #withRoom(id: string, dependents: readonly string[], most: number): Promise<readonly string[]> {
    if (dependents.length < most) return dependents;
    const ended = new Set<string>();
    for (let begin = 0; begin < dependents.length; begin += MOST_KEYS) {
      for (const [key, text] of await this.store.texts.readMany(dependents.slice(begin, begin + MOST_KEYS))) {
        await this.store.slices.turn(text.length);
        const task = readableTask(text);
        if (task && hasEnded(task)) ended.add(key);
      }
    }
    const others = dependents.filter((each) => !ended.has(each));
    expectRoom(id, others, most);
    return others;
  }

  async #root(id: string): Promise<GroupRoot | undefined> {
    const text = await this.store.groups.parts.texts.read(rootKey(id));
    return text === undefined ? undefined : decodeGroupRoot(text);
  }

  /**
   * A closed group ended as its handler did. One without members was never submitted as a whole. The task of the handler goes
   * last, so one that is gone was forgotten with it. One that is tried again by hand has not completed, as long as it has not.
   */
  async #outcomeOf(root: GroupRoot): Promise<Outcome> {
    if (wasAbandoned(root)) return 'cancelled';
    const { group, incarnation } = root;
    const task = await this.store.find(`${group}#join`);
    if (task?.join?.incarnation !== incarnation) return 'completed';
    const former = task.join.isOver ? (task.formerEnd?.outcome ?? 'failed') : 'completed';
    return task.ending?.outcome ?? former;
  }
}

function expectRoom(id: string, dependents: readonly string[], most: number): void {
  if (dependents.length < most) return;
  const why = `${most} tasks wait for ${show(id)} already: let one task wait for it, and submit the others in its handler`;
  throw new InvalidOptionsError('a task that waits for others', [`after: ${why}`]);
}
