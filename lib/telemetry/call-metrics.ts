import type { AcquireEnd, AttemptEnd, NamedTask } from '../core/context/instrumentation.js';
import type { ActiveWork } from './active-work.js';
import type { Labels } from './labels.js';
import { ATTRIBUTES as A, type RecordValue } from './metrics.js';

/** Ends of tasks that nothing will try again, but for an operator. */
const DEAD = new Set(['failed', 'crashed', 'invalid']);

/** Measures the calls of a node. */
export class CallMetrics {
  constructor(
    private readonly record: RecordValue,
    private readonly labels: Labels,
    private readonly activeTasks: ActiveWork,
    /** Monotonic ms. */
    private readonly now: () => number,
  ) {}

  /** A call for a permit begins. @returns a function for its end; without an end, the call has thrown */
  acquire(name: string): (end?: AcquireEnd) => void {
    const semaphore = { [A.semaphore]: this.labels.semaphore(name) };
    const begun = this.now();
    this.record('attempts', 1, semaphore);
    return (end) => {
      const outcome = end?.permit ? 'granted' : end ? 'denied' : 'failed';
      this.record('acquireDuration', this.#secondsSince(begun), { ...semaphore, [A.outcome]: outcome });
      if (end?.reason) this.record('denials', 1, { ...semaphore, [A.denial]: end.reason });
    };
  }

  /** An attempt at a task begins. @returns a function for its end; without an end, its end could not be noted */
  attempt({ type }: NamedTask): (end?: AttemptEnd) => void {
    const task = { [A.task]: this.labels.task(type) };
    const begun = this.now();
    this.activeTasks.add(task, 1);
    return (end) => {
      this.activeTasks.add(task, -1);
      const outcome = outcomeOf(end);
      const error = end?.error === undefined ? {} : { [A.error]: this.labels.error(end.error) };
      this.record('taskDuration', this.#secondsSince(begun), { ...task, [A.outcome]: outcome, ...error });
      if (outcome === 'completed') this.record('completed', 1, task);
      if (end?.isFailure) this.record('failed', 1, task);
      if (DEAD.has(outcome)) this.record('dead', 1, { ...task, [A.outcome]: outcome });
    };
  }

  submitted({ type }: NamedTask, outcome: string): void {
    this.record('submitted', 1, { [A.task]: this.labels.task(type), [A.outcome]: outcome });
  }

  storeCall(part: string, took: number, error: unknown): void {
    const failure = error === undefined ? {} : { [A.error]: this.labels.error(error) };
    this.record('storeDuration', took / 1000, { [A.part]: part, ...failure });
  }

  #secondsSince(begun: number): number {
    return (this.now() - begun) / 1000;
  }
}

/** `lost`: its end could not be noted. `again`: the task will be tried again. */
export function outcomeOf(end: AttemptEnd | undefined): string {
  return end ? (end.task.ending?.outcome ?? 'again') : 'lost';
}
