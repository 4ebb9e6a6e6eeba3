import type { GatekeeperEvent } from '../../gatekeeper/index.js';
import { type Outcome, type TaskView, viewOf } from '../../tasks/index.js';
import { decodeTask } from '../../tasks/rules/task.codec.js';
import { bornOf } from '../../tasks/rules/transitions.js';

/** An attempt at a task on one of the nodes of a test. */
export interface TestAttempt {
  /** Id of the task. */
  readonly task: string;
  /** Name of the node. */
  readonly node: string;
  /** Fencing token of the attempt. */
  readonly token: number;
  /** When it began: ms since 1970 by the test's clock. */
  readonly at: number;
  /**
   * How it ended: an outcome of the task; `again` if the task waits for its next attempt; `lost` if the task was not the
   * node's any more. Absent while it runs, or if its node crashed.
   */
  readonly outcome?: Outcome | 'again' | 'lost';
  /** The error of the handler; absent if it returned. */
  readonly error?: unknown;
}

type Ended = Extract<GatekeeperEvent, { readonly type: 'task-ended' | 'task-lost' }>;

/** Letters with which the texts of tasks begin that were just submitted; see the codec of tasks. */
const SUBMITTED = /^[wlb]\|/;

/** The submissions and attempts of a test, oldest first. */
export class TaskLog {
  readonly submitted: TaskView[] = [];
  readonly attempts: TestAttempt[] = [];
  readonly #running = new Map<string, { -readonly [Field in keyof TestAttempt]: TestAttempt[Field] }>();
  /** Submission of the last life of each task. */
  readonly #born = new Map<string, string>();
  /** Counts all that happened. */
  changes = 0;

  constructor(private readonly now: () => number) {}

  /** Keys of the attempts that run on nodes that live. */
  get running(): readonly string[] {
    return [...this.#running.keys()];
  }

  /** Call this with each text that is written. */
  written(text: string): void {
    this.changes++;
    if (!SUBMITTED.test(text)) return;
    const task = decodeTask(text);
    const born = bornOf(task);
    if (task.join || this.#born.get(task.id) === born) return;
    this.#born.set(task.id, born);
    this.submitted.push(viewOf(task));
  }

  /** Call this with each event of a node. */
  noted(node: string, event: GatekeeperEvent): void {
    this.changes++;
    if (event.type === 'task-started') {
      const attempt = { task: event.task, node, token: event.token, at: this.now() };
      this.attempts.push(attempt);
      this.#running.set(keyOf(event), attempt);
    } else if (event.type === 'task-ended' || event.type === 'task-lost') this.#end(event);
  }

  /** The attempts of a node that crashed end never. */
  forget(node: string): void {
    for (const [key, attempt] of this.#running) if (attempt.node === node) this.#running.delete(key);
  }

  #end(event: Ended): void {
    const attempt = this.#running.get(keyOf(event));
    if (!attempt) return;
    this.#running.delete(keyOf(event));
    if (event.error !== undefined) attempt.error = event.error;
    const { outcome = 'again' } = event.type === 'task-ended' ? event : { outcome: 'lost' };
    attempt.outcome = outcome as NonNullable<TestAttempt['outcome']>;
  }
}

function keyOf({ task, token }: Pick<TestAttempt, 'task' | 'token'>): string {
  return `${task} ${token}`;
}
