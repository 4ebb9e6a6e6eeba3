import { InvalidOptionsError, show } from '../../decision/index.js';
import { groupType, joinType, typeFaults } from '../task-id.js';
import type { HandledType } from './handled-type.js';
import type { TypeWorker } from './type-worker.js';

/** The workers of this node, by the type in the records of their tasks. */
export class TypeWorkers {
  readonly #workers = new Map<string, TypeWorker>();
  /** Those that take no more tasks, until their last handlers have ended. */
  readonly #retired = new Set<TypeWorker>();
  #isStarted = false;
  #isClosed = false;

  get size(): number {
    return this.#workers.size;
  }

  find(type: string): TypeWorker | undefined {
    return this.#workers.get(type);
  }

  /** @param key type in the records @throws InvalidOptionsError if the type is invalid, or has a worker already */
  expectNew(type: string, key: string): void {
    const faults = typeFaults(type);
    if (this.find(key)) faults.push(`type: this node has a handler for ${show(type)} already`);
    if (faults.length > 0) throw new InvalidOptionsError('a handler of tasks', faults);
  }

  /** Adds a worker, which begins at once after {@link start}. */
  add(worker: TypeWorker): void {
    this.#workers.set(worker.type, worker);
    if (this.isRunning) worker.start();
  }

  /** Takes no more tasks of a type in the records. The type is free for another handler at once. */
  remove(key: string): void {
    const worker = this.#workers.get(key);
    if (!worker) return;
    this.#workers.delete(key);
    this.#retired.add(worker);
    void worker.retire().then(() => this.#retired.delete(worker));
  }

  get isRunning(): boolean {
    return this.#isStarted && !this.#isClosed;
  }

  list(): HandledType[] {
    return [...this.#workers.values()].map(({ type, state }) => ({
      type: groupType(type),
      handles: type === groupType(type) ? 'tasks' : 'groups',
      ...state,
    }));
  }

  /** The workers for the tasks and for the groups of a type. @throws InvalidOptionsError if there is none */
  of(type: string): TypeWorker[] {
    const isType = typeFaults(type).length === 0;
    const found = isType ? [type, joinType(type)].flatMap((key) => this.#workers.get(key) ?? []) : [];
    if (found.length > 0) return found;
    throw new InvalidOptionsError(`the type of tasks ${show(type)}`, ['this node has no handler for it']);
  }

  start(): void {
    this.#isStarted = true;
    for (const worker of this.#workers.values()) worker.start();
  }

  /** @param grace ms for which it waits for handlers */
  async close(grace: number): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#workers.values(), ...this.#retired].map((worker) => worker.close(grace)));
  }
}
