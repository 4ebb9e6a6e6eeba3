import type { TaskContext } from '../../../lib/tasks/index.js';
import type { SimProcess } from '../machines/sim-process.js';
import type { TasksChecker } from './tasks-checker.js';

type Run = Pick<TaskContext, 'id' | 'token' | 'lease'>;

/** Checks T15: an attempt begins when no other one counts on the task, also not in a process that is frozen. */
export class AttemptsChecker {
  readonly #runs = new Map<Run, SimProcess>();

  constructor(private readonly checker: TasksChecker) {}

  /** @returns a function for the end of the handler */
  began(run: Run, process: SimProcess): () => void {
    for (const [{ id, token, lease }, { isCrashed }] of this.#runs) {
      if (id !== run.id || isCrashed || lease.remaining === 0) continue;
      this.checker.violated(
        `T15 ${id} begins with token ${run.token}, and ${lease.remaining} ms of token ${token} are left`,
      );
    }
    this.#runs.set(run, process);
    return () => void this.#runs.delete(run);
  }
}
