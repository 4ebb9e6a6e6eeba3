import { Deadline } from '../../async/deadline.js';
import type { Context } from '../../context/context.js';
import { withPermit } from './current-permit.js';
import type { HeldPermit } from '../held-permit.js';
import type { GuardingPermit } from './guarding-permit.js';
import type { RunPermit } from './run-permit.js';
import { type RunResult, reported } from './runner.js';

/** The work under a permit that outlives each piece of it. The permit goes back when {@link drain} says that all ended. */
export class PermitWork {
  readonly #running = new Set<Promise<unknown>>();
  #runs = 0;

  constructor(private readonly context: Pick<Context, 'events' | 'nodeClock' | 'timers' | 'instrumentation'>) {}

  /** Runs a job. The history shows it. @throws any error of `work` */
  async job<T>(job: string, permit: GuardingPermit, work: () => T | Promise<T>): Promise<RunResult<T>> {
    const { instrumentation } = this.context;
    const call = () => this.report(job, permit, () => withPermit(permit, work));
    if (!instrumentation) return this.#track(call());
    const observed = instrumentation.run({ semaphore: permit.semaphore, job }, (begun) => {
      begun(permit.stored);
      return call();
    });
    return this.#track(observed);
  }

  /** Runs `work`. An error makes a `problem` event, unless the end of the permit caused it. Never rejects. */
  guard<P extends RunPermit>(action: string, permit: P, work: (permit: P) => unknown): Promise<void> {
    return this.#track(this.#guarded(action, permit, work));
  }

  /** Runs `work` with the events of a run, but {@link drain} does not wait for it. */
  report<T>(job: string, { semaphore, stored: permit }: GuardingPermit, work: () => T | Promise<T>) {
    const { events, nodeClock } = this.context;
    const run = { semaphore, job, run: ++this.#runs, permit };
    return reported(run, work, { events, nodeClock, started: nodeClock.monotonic() });
  }

  /** Waits until all work has ended. @returns false if some goes on after `grace` ms */
  async drain(grace: number): Promise<boolean> {
    const over = Promise.allSettled(this.#running);
    const deadline = new Deadline(this.context.timers, grace);
    return deadline.race(over).then(
      () => true,
      () => false,
    );
  }

  /**
   * Ends the lease of a permit whose work is stuck: the permit is not released, but expires in the store. Makes a
   * `problem` event.
   *
   * @param action that could not be completed, for people
   * @param grace ms for which {@link drain} waited
   */
  letExpire(permit: HeldPermit, action: string, grace: number): void {
    permit.lease.finish('stuck');
    const error = new Error(`work goes on ${grace} ms after it should have ended: the permit expires instead`);
    this.#problem(permit, action, error);
  }

  #track<T>(running: Promise<T>): Promise<T> {
    this.#running.add(running);
    const forget = () => void this.#running.delete(running);
    running.then(forget, forget);
    return running;
  }

  async #guarded<P extends RunPermit>(action: string, permit: P, work: (permit: P) => unknown): Promise<void> {
    try {
      await withPermit(permit, () => work(permit));
    } catch (error) {
      if (isCausedBy(permit.signal, error)) return;
      this.#problem(permit, action, error);
    }
  }

  #problem({ semaphore }: Pick<RunPermit, 'semaphore'>, action: string, error: unknown): void {
    this.context.events.next({ type: 'problem', semaphore, action, error });
  }
}

/** Whether an error only says that the signal aborted, as fetch() and other calls with a signal throw it. */
function isCausedBy(signal: AbortSignal, error: unknown): boolean {
  return signal.aborted && (error === signal.reason || (error as Error | undefined)?.name === 'AbortError');
}
