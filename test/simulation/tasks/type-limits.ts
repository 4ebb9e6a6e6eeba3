import type { TaskContext } from '../../../lib/tasks/index.js';
import type { SimProcess } from '../machines/sim-process.js';
import type { VirtualTime } from '../world/virtual-time.js';
import type { TasksChecker } from './tasks-checker.js';

/** A handler that runs. */
interface Run {
  readonly id: string;
  readonly signal: AbortSignal;
  readonly process: SimProcess;
}

/** ms in which a process that was frozen notices that its permit is over. */
const NOTICE = 50;

/** Checks T6: no more handlers of a type run at once than it has permits. A process that is frozen does not count. */
export class TypeLimits {
  readonly #runs = new Map<string, Set<Run>>();

  constructor(
    private readonly permits: ReadonlyMap<string, number>,
    private readonly time: VirtualTime,
    private readonly checker: TasksChecker,
  ) {}

  /** @returns a function for the end of the handler */
  began({ id, type, signal }: Pick<TaskContext, 'id' | 'type' | 'signal'>, process: SimProcess): () => void {
    const run = { id, signal, process };
    const runs = this.#runs.get(type) ?? new Set();
    this.#runs.set(type, runs.add(run));
    const most = this.permits.get(type)!;
    const suspects = this.#active(runs);
    if (suspects.length > most) {
      this.time.after(NOTICE, () => {
        const still = this.#active(runs).filter((each) => suspects.includes(each));
        if (still.length <= most) return;
        this.checker.violated(`T6 ${still.map((each) => each.id).join()} run at once under ${most} permits`);
      });
    }
    return () => void runs.delete(run);
  }

  #active(runs: ReadonlySet<Run>): Run[] {
    return [...runs].filter(({ signal, process }) => !signal.aborted && process.isRunning && !process.isCrashed);
  }
}
