import type { Task } from '../../../lib/tasks/rules/task.js';
import { bornOf, hasEnded } from '../../../lib/tasks/rules/transitions.js';
import type { Life } from './tasks-checker.js';

/** Checks T11 when a node begins to work on a task of a serial queue. */
export class QueueChecker {
  #count = 0;
  /** Place of the first submission of a task among all that happened. */
  readonly #asked = new Map<string, number>();
  /** The same of the first answer. */
  readonly #accepted = new Map<string, number>();

  constructor(
    private readonly lives: ReadonlyMap<string, readonly Life[]>,
    private readonly violated: (text: string) => void,
  ) {}

  asked(id: string): void {
    if (!this.#asked.has(id)) this.#asked.set(id, this.#count++);
  }

  accepted(id: string): void {
    if (!this.#accepted.has(id)) this.#accepted.set(id, this.#count++);
  }

  claimed(task: Task): void {
    const { id, queue } = task;
    if (queue === undefined) return;
    const isFirstLife = this.lives.get(id)?.[0]?.born === bornOf(task);
    for (const [other, lives] of this.lives) {
      if (other === id || lives[0]?.task.queue !== queue) continue;
      const last = lives.at(-1)!.task;
      if (last.state !== 'blocked' && !hasEnded(last)) this.violated(`T11 ${id} begins beside ${other}, ${last.state}`);
      const isBefore = (this.#accepted.get(other) ?? Infinity) < this.#asked.get(id)!;
      if (isFirstLife && isBefore && !hasEnded(lives[0]!.task)) this.violated(`T11 ${id} begins before ${other}`);
    }
  }
}
