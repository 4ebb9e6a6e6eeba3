import { messageOf } from '../../core/decision/index.js';
import type { Context } from '../../core/context/context.js';
import { Deadline, DeadlinePassed } from '../../core/async/deadline.js';

/** Timeout of a call in ms. Long, because an archive is used rarely and may be on a slow disk. */
const PATIENCE = 10_000;

/** An action that keeps failing. */
export interface ArchiveFailure {
  /** The node's monotonic ms. */
  readonly since: number;
  /** For people. */
  readonly sentence: string;
}

interface CallOptions {
  /** Timeout in ms. Default 10 s. */
  readonly patience?: number;
  /** Whether the call is made even while an earlier one has no answer. Only for the last call, which closes the archive. */
  readonly isLast?: boolean;
}

/** Limits the time of an archive's calls, and reports each failure as one event as long as it lasts. */
export class BoundedCalls {
  /** Failures by action: one action may fail at each sweep while another has nothing to do. */
  readonly #failures = new Map<string, ArchiveFailure>();
  /** A call timed out and may still end: no new call starts before that. */
  #hanging = false;

  /** @param subject names the archive in messages: "archive (file)" */
  constructor(
    readonly subject: string,
    private readonly context: Context,
  ) {}

  /** Actions that keep failing. */
  get failures(): readonly ArchiveFailure[] {
    return [...this.#failures.values()];
  }

  /** Like {@link run}, but returns undefined if the call fails: `run` has reported that as an event and in {@link failures}. */
  try<T>(action: string, call: () => Promise<T>, options?: CallOptions): Promise<T | undefined> {
    return this.run(action, call, options).catch(() => undefined);
  }

  /** Makes a call. @throws its error, after it was reported */
  async run<T>(action: string, call: () => Promise<T>, options?: CallOptions): Promise<T> {
    try {
      const result = await this.#inTime(call, options);
      this.#failures.delete(action);
      return result;
    } catch (error) {
      this.report(action, error);
      throw error;
    }
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

  async #inTime<T>(call: () => Promise<T>, { patience = PATIENCE, isLast = false }: CallOptions = {}): Promise<T> {
    if (this.#hanging && !isLast) throw new Error('an earlier call is still without an answer');
    const answer = call();
    try {
      return await new Deadline(this.context.timers, patience).race(answer);
    } catch (error) {
      if (!(error instanceof DeadlinePassed)) throw error;
      this.#hanging = true;
      const end = () => (this.#hanging = false);
      answer.then(end, end);
      throw new Error(`no answer within ${patience} ms`, { cause: error });
    }
  }
}
