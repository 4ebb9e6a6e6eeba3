import type { Context } from '../../core/context/context.js';
import type { Hints } from '../hints.js';
import type { Priority } from '../task.js';
import { groupType } from '../task-id.js';

/** ms between two counts. */
const INTERVAL = 10_000;

/**
 * Counts the tasks that wait, for telemetry: one small read for each queue in which the sweep has found tasks, so an idle
 * type costs nothing, and only on the node that sweeps. Does nothing without telemetry.
 */
export class Backlog {
  readonly #found = new Map<string, readonly [string, Priority]>();
  /** Monotonic ms. */
  #countedAt = -Infinity;

  constructor(
    private readonly hints: Pick<Hints, 'queue'>,
    private readonly context: Pick<Context, 'instrumentation' | 'nodeClock'>,
  ) {}

  /** Call this for each queue in which tasks wait. */
  look(type: string, priority: Priority): void {
    if (this.context.instrumentation) this.#found.set(`${type}.${priority}`, [type, priority]);
  }

  /** Call this after all queues. @throws StoreUnavailableError */
  async done(): Promise<void> {
    const { instrumentation, nodeClock } = this.context;
    const queues = [...this.#found.values()];
    this.#found.clear();
    if (!instrumentation || nodeClock.monotonic() - this.#countedAt < INTERVAL) return;
    this.#countedAt = nodeClock.monotonic();
    const waiting = new Map<string, number>();
    for (const [type, priority] of queues) {
      const of = groupType(type);
      waiting.set(of, (waiting.get(of) ?? 0) + (await this.hints.queue(type, priority).size()));
    }
    instrumentation.backlog(waiting);
  }
}
