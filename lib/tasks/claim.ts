import type { Task } from './task.js';

/** A claimed task, with the text that stands in the store as far as this node knows. */
export class Claim {
  /** Nonces of writes of this claim. One whose outcome was unknown may turn out to be applied. */
  readonly written = new Set<string>();
  /** Ids of sub-tasks that this attempt has submitted: they are surely in the store. */
  readonly confirmed = new Set<string>();
  #task: Task;
  #text: string;

  constructor(task: Task, text: string) {
    this.#task = task;
    this.#text = text;
  }

  get task(): Task {
    return this.#task;
  }

  get text(): string {
    return this.#text;
  }

  follow(task: Task, text: string): void {
    this.#task = task;
    this.#text = text;
  }

  /** Whether `other` is the same claim, perhaps changed since. */
  covers(other: Task): boolean {
    return other.state === 'claimed' && other.token === this.task.token && other.owner === this.task.owner;
  }
}
