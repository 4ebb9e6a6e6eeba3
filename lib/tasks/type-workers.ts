import { InvalidOptionsError, show } from '../core/decision/index.js';
import { groupType, joinType, typeFaults } from './rules/task-id.js';
import type { HandledType, WorkerState } from './workers/handled-type.js';
import type { HeldTask } from './workers/held-task.js';
import type { TypeWorker, WorkerOptions } from './workers/type-worker.js';

/** A handler of this node. It gets its worker when the code that works on tasks is loaded. */
export class OwnHandler {
  #worker?: TypeWorker;
  #isPaused = false;

  constructor(
    /** The type in the records of its tasks. */
    readonly type: string,
    /** The type whose limit counts. */
    readonly limitedType: string,
    readonly options: WorkerOptions,
    readonly work: (held: HeldTask) => unknown,
  ) {}

  get worker(): TypeWorker | undefined {
    return this.#worker;
  }

  workBy(worker: TypeWorker): void {
    this.#worker = worker;
    if (this.#isPaused) worker.pause();
  }

  pause(): void {
    this.#isPaused = true;
    this.#worker?.pause();
  }

  resume(): void {
    this.#isPaused = false;
    this.#worker?.resume();
  }

  get state(): WorkerState {
    const { concurrency } = this.options;
    const obstacle = this.#isPaused ? 'paused-here' : undefined;
    return this.#worker?.state ?? { concurrency, running: 0, ...(obstacle && { obstacle }) };
  }
}

/** The handlers of this node and their workers, by the type in the records of their tasks. */
export class TypeWorkers {
  readonly #handlers = new Map<string, OwnHandler>();
  /** Those that take no more tasks, until their last handlers have ended. */
  readonly #retired = new Set<TypeWorker>();
  #isStarted = false;
  #isClosed = false;

  get size(): number {
    return this.#handlers.size;
  }

  get all(): readonly OwnHandler[] {
    return [...this.#handlers.values()];
  }

  find(type: string): OwnHandler | undefined {
    return this.#handlers.get(type);
  }

  /** @param key type in the records @throws InvalidOptionsError if the type is invalid, or has a worker already */
  expectNew(type: string, key: string): void {
    const faults = typeFaults(type);
    if (this.find(key)) faults.push(`type: this node has a handler for ${show(type)} already`);
    if (faults.length > 0) throw new InvalidOptionsError('a handler of tasks', faults);
  }

  add(handler: OwnHandler): void {
    this.#handlers.set(handler.type, handler);
  }

  /** Takes no more tasks of a type in the records. The type is free for another handler at once. */
  remove(key: string): void {
    const worker = this.#handlers.get(key)?.worker;
    this.#handlers.delete(key);
    if (!worker) return;
    this.#retired.add(worker);
    void worker.retire().then(() => this.#retired.delete(worker));
  }

  get isRunning(): boolean {
    return this.#isStarted && !this.#isClosed;
  }

  list(): HandledType[] {
    return this.all.map(({ type, state }) => ({
      type: groupType(type),
      handles: type === groupType(type) ? 'tasks' : 'groups',
      ...state,
    }));
  }

  /** The workers for the tasks and for the groups of a type. @throws InvalidOptionsError if there is none */
  of(type: string): OwnHandler[] {
    const isType = typeFaults(type).length === 0;
    const found = isType ? [type, joinType(type)].flatMap((key) => this.#handlers.get(key) ?? []) : [];
    if (found.length > 0) return found;
    throw new InvalidOptionsError(`the type of tasks ${show(type)}`, ['this node has no handler for it']);
  }

  start(): void {
    this.#isStarted = true;
    for (const { worker } of this.all) worker?.start();
  }

  /** @param grace ms for which it waits for handlers */
  async close(grace: number): Promise<void> {
    this.#isClosed = true;
    const workers = [...this.all.map(({ worker }) => worker), ...this.#retired];
    await Promise.all(workers.map((worker) => worker?.close(grace)));
  }
}
