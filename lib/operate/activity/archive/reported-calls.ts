import { messageOf } from '../../../core/decision/index.js';
import type { Context } from '../../../core/context/context.js';

/** An action that keeps failing. */
export interface ArchiveFailure {
  /** The node's monotonic ms. */
  readonly since: number;
  /** For people. */
  readonly sentence: string;
}

/** Reports each failure of an archive's calls as one event as long as it lasts. */
export class ReportedCalls {
  /** Failures by action: one action may fail at each sweep while another has nothing to do. */
  readonly #failures = new Map<string, ArchiveFailure>();

  /** @param subject names the archive in messages: "archive (files)" */
  constructor(
    readonly subject: string,
    protected readonly context: Context,
  ) {}

  /** Actions that keep failing. */
  get failures(): readonly ArchiveFailure[] {
    return [...this.#failures.values()];
  }

  /** Makes a call. @throws its error, after it was reported */
  async run<T>(action: string, call: () => Promise<T>): Promise<T> {
    try {
      const result = await call();
      this.#failures.delete(action);
      return result;
    } catch (error) {
      this.report(action, error);
      throw error;
    }
  }

  /** Like {@link run}, but returns undefined if the call fails: `run` has reported that as an event and in {@link failures}. */
  try<T>(action: string, call: () => Promise<T>): Promise<T | undefined> {
    return this.run(action, call).catch(() => undefined);
  }

  /** Reports a failure, unless it is known. */
  report(action: string, error: unknown): void {
    const known = this.#failures.get(action);
    const tried = `${this.subject}: ${action}`;
    const sentence = `${tried}: ${messageOf(error)}`;
    if (sentence === known?.sentence) return;
    this.#failures.set(action, { since: known?.since ?? this.context.nodeClock.monotonic(), sentence });
    this.context.events.next({ type: 'problem', action: tried, error });
  }
}
