import { Deadline } from '../../async/deadline.js';
import { pause } from '../../async/pause.js';
import { StoreUnavailableError } from '../../stores/index.js';
import { decodeTask } from '../task.codec.js';
import { TasksClosingError } from '../tasks.errors.js';
import { Attempt, type AttemptParts } from './attempt.js';
import { HeldTask, type HeldOptions } from './held-task.js';
import { type Hint, HintSource } from './hint-source.js';

export interface WorkerOptions extends HeldOptions {
  /** Tasks of the type at the same time on this node. */
  readonly concurrency: number;
}

/** ms before a hint is tried again whose claim failed because of the store. */
const RETRY = 500;

/** The workers of this node for one type of tasks: takes a hint, claims its task, and runs the handler. */
export class TypeWorker {
  readonly #source: HintSource;
  readonly #running = new Map<Promise<void>, HeldTask | undefined>();
  #loop?: Promise<void>;
  #isClosing = false;
  #free: () => void = () => undefined;

  constructor(
    readonly type: string,
    private readonly handler: (held: HeldTask) => unknown,
    private readonly options: WorkerOptions,
    private readonly parts: AttemptParts,
  ) {
    this.#source = new HintSource(type, parts.store.hints, parts.context);
  }

  start(): void {
    this.#loop ??= this.#work();
  }

  /**
   * Takes no more tasks, and waits for the running ones. After `grace` ms their signals abort. Work that goes on after that
   * keeps its lease: the task goes to another node when it is over.
   */
  async close(grace: number): Promise<void> {
    this.#isClosing = true;
    this.#free();
    await Promise.all([this.#source.close(), this.#loop]);
    if (await this.#drained(grace)) return;
    for (const held of this.#running.values()) held?.abort(new TasksClosingError());
    // A handler that reacts to its signal gives the task back: that takes one call of the store.
    await this.#drained(this.parts.context.timing.callTimeout);
  }

  async #work(): Promise<void> {
    while (!this.#isClosing) {
      const free = this.options.concurrency - this.#running.size;
      if (free > 0) for (const hint of await this.#source.take(free)) this.#begin(hint);
      else await new Promise<void>((resolve) => (this.#free = resolve));
    }
  }

  #begin(hint: Hint): void {
    const running: Promise<void> = this.#run(hint, (held) => this.#running.set(running, held)).finally(() => {
      this.#running.delete(running);
      this.#free();
    });
    this.#running.set(running, undefined);
  }

  /** Never rejects. */
  async #run(hint: Hint, holds: (held: HeldTask) => void): Promise<void> {
    const { store, context } = this.parts;
    try {
      const begun = context.nodeClock.monotonic();
      const claim = await store.claim(hint.text, this.options.lease);
      if (!claim) return;
      const held = new HeldTask(claim, this.options, store, context, begun);
      holds(held);
      await new Attempt(held, this.parts).run(() => this.handler(held));
    } catch (error) {
      context.events.next({ type: 'problem', action: `claim ${nameIn(hint.text)}`, error });
      if (!(error instanceof StoreUnavailableError)) return;
      // Surely not claimed: this node, or another one, tries it again. In all other cases the sweep finds the task.
      await pause(context.nodeClock, RETRY, { isAwaited: false });
      await this.#source.giveBack(hint);
    }
  }

  async #drained(ms: number): Promise<boolean> {
    const { timers } = this.parts.context;
    const over = Promise.all(this.#running.keys());
    return new Deadline(timers, ms).race(over).then(
      () => true,
      () => false,
    );
  }
}

function nameIn(hint: string): string {
  try {
    return `task ${decodeTask(hint).id}`;
  } catch {
    return 'a task whose hint can not be read'; // the error of the claim says why
  }
}
