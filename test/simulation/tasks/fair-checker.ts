import { decodeTask } from '../../../lib/tasks/rules/task.codec.js';

/** Turns of another key that one node may take while tasks of a key wait: see {@link FairChecker}. */
const MOST = 4;

/**
 * Checks T14 while there is no trouble: while tasks of a key wait, a node takes at most so many tasks of another key, before
 * any node takes one of that key. That is one of the round in which the key began to wait, and one of the next round; and
 * claims that were on their way are applied in any order.
 */
export class FairChecker {
  /** Waiting tasks of each key. */
  readonly #waiting = new Map<string, Set<string>>();
  /** By key that waits: tasks of other keys that were taken meanwhile, by node and key. */
  readonly #taken = new Map<string, Map<string, number>>();

  constructor(private readonly violated: (text: string) => void) {}

  observe(id: string, next: string | undefined): void {
    const task = next === undefined ? undefined : decodeTask(next);
    const key = task?.fairKey;
    if (!task || key === undefined) return;
    const waiting = this.#waiting.get(key) ?? new Set();
    this.#waiting.set(key, waiting);
    if (task.state === 'claimed' && waiting.has(id)) this.#claimed(key, task.owner!);
    // A task that waits anew has another text: a look before did not see it.
    if (task.state === 'waiting' && (waiting.size === 0 || waiting.has(id))) this.#taken.delete(key);
    if (task.state === 'waiting') waiting.add(id);
    else waiting.delete(id);
  }

  #claimed(key: string, owner: string): void {
    this.#taken.delete(key);
    for (const [other, { size }] of this.#waiting) {
      if (other === key || size === 0) continue;
      const taken = this.#taken.get(other) ?? new Map<string, number>();
      const count = (taken.get(`${owner}/${key}`) ?? 0) + 1;
      this.#taken.set(other, taken.set(`${owner}/${key}`, count));
      if (count > MOST) this.violated(`T14 ${owner} took ${count} tasks of key ${key} while ${other} waited`);
    }
  }
}
