import { z } from 'zod';
import { decodeStored } from '../../core/decision/index.js';
import type { Awaited, Task } from '../rules/task.js';
import { decodeTask, encodeTask } from '../rules/task.codec.js';
import { bornOf, unblocked } from '../rules/transitions.js';
import { isUnplaced } from '../rules/effects.js';
import type { AwaitedRecords, AwaitedStore } from './awaited-records.js';

const VERSION = 1;
const life = z.strictObject({ id: z.string().min(1).max(500), life: z.string().min(1).max(100) });
const tailSchema = z.strictObject({ v: z.literal(VERSION), nonce: z.string(), last: life, before: life.optional() });

/**
 * Queues whose tasks run one after another. A queue is a list: each task waits for the one before it. The record of its tail
 * names the last task, and the one before. A task gets its place in two writes:
 *
 *     tail { last: L, before: K }  ─▶  tail { last: T, before: L }  ─▶  T waits for L, or runs if L has ended
 *
 * Before a process replaces L as the last task, it makes sure that L waits for K. So a blocked task that waits for nothing is
 * either not in the list, or its last one, and any process can go on after a crash. A task of a queue only ends when its turn
 * has come, also if it was cancelled. So all tasks before one that has ended have ended.
 */
export class SerialQueues {
  constructor(
    private readonly store: AwaitedStore,
    private readonly records: AwaitedRecords,
  ) {}

  /** Gives a blocked task its place, if it has none. Idempotent. */
  async place(queue: string, own: Awaited): Promise<void> {
    const { texts, id: newNonce } = this.store.groups.parts;
    await texts.change<void>(keyOf(queue), async (text) => {
      const tail = text === undefined ? undefined : decodeTail(text);
      const isLast = tail && isSame(tail.last, own);
      if (tail) await this.#link(tail.last, tail.before);
      // After the read of the tail: one that was replaced as the last task since then has its place.
      if (isLast || !(await this.#isUnplaced(own))) return { result: undefined };
      const next = { v: VERSION, nonce: newNonce(), last: own, ...(tail && { before: tail.last }) };
      return { write: JSON.stringify(next), done: () => this.#placed(queue, own, tail?.last) };
    });
  }

  /**
   * Removes the tail if it names a task that has ended as the last one: an empty queue leaves nothing. A write that came late
   * may have named a former life of it. Idempotent.
   */
  async leave(queue: string, own: Awaited): Promise<void> {
    const { texts } = this.store.groups.parts;
    const text = await texts.read(keyOf(queue));
    const last = text === undefined ? undefined : decodeTail(text).last;
    if (last?.id !== own.id) return;
    if (isSame(last, own) || (await this.#isOver(last))) await texts.write(keyOf(queue), text, undefined);
  }

  async #placed(queue: string, own: Awaited, before: Awaited | undefined): Promise<void> {
    if (await this.#link(own, before)) return;
    // Since the look before the write of the tail it may have got its place, ended, and left. It leaves only once.
    if (await this.#isOver(own)) await this.leave(queue, own);
  }

  /** Lets a task wait for the one before it. @returns whether it has waited for its place until then */
  async #link(own: Awaited, before: Awaited | undefined): Promise<boolean> {
    if (!(await this.#isUnplaced(own))) return false;
    const isOpen = before !== undefined && (await this.#isOpen(before, own.id));
    return this.store.texts.change<boolean>(own.id, async (text) => {
      const task = unplacedIn(text, own);
      if (!task) return { result: false };
      const stamp = await this.store.stamp();
      const next = isOpen
        ? { ...task, born: bornOf(task), nonce: stamp.nonce, after: [before] }
        : unblocked(task, stamp);
      const write = encodeTask(next);
      const done = async () => {
        await this.store.settle(next, write);
        return true;
      };
      return { write, done };
    });
  }

  async #isOver({ id, life: born }: Awaited): Promise<boolean> {
    const found = await this.records.find(id);
    return found?.life !== born || found.outcome !== undefined;
  }

  async #isOpen(before: Awaited, dependent: string): Promise<boolean> {
    const found = await this.records.find(before.id);
    if (found?.life !== before.life || found.outcome) return false;
    // The next one of the queue must have its place: its submission was accepted. It is one, so the record stays bounded.
    const added = await this.records.add(before.id, dependent, Infinity);
    return added?.life === before.life && !added.outcome;
  }

  /** Whether the task waits for its place. */
  async #isUnplaced(own: Awaited): Promise<boolean> {
    return unplacedIn(await this.store.texts.read(own.id), own) !== undefined;
  }
}

/** The task of a text, if it is this life of it, and waits for its place. */
function unplacedIn(text: string | undefined, { life }: Awaited): Task | undefined {
  const found = text === undefined ? undefined : decodeTask(text);
  return found && isUnplaced(found) && bornOf(found) === life ? found : undefined;
}

function isSame(one: Awaited, other: Awaited): boolean {
  return one.id === other.id && one.life === other.life;
}

/** Key of a queue's tail, among the records of groups. */
function keyOf(queue: string): string {
  return `tail:${queue}`;
}

function decodeTail(text: string): z.output<typeof tailSchema> {
  return decodeStored(tailSchema, VERSION, 'the tail of a serial queue', text);
}
