import { Deadline } from '../../async/deadline.js';
import type { Context } from '../../context/context.js';
import { withLastingPermit } from './current-permit.js';
import type { HeldPermit } from '../held-permit.js';
import type { GuardingPermit } from './guarding-permit.js';
import type { RunPermit } from './run-permit.js';
import { type RunResult, reported } from './runner.js';

/** The work under permits that outlive each piece of it. A permit goes back when {@link drain} says that its work has ended. */
export class PermitWork {
  /** Pieces of work, each with the token of its permit. */
  readonly #running = new Map<Promise<unknown>, number>();
  #runs = 0;

  constructor(private readonly context: Pick<Context, 'events' | 'nodeClock' | 'timers' | 'instrumentation'>) {}

  /** Runs a job. The history shows it. @throws any error of `work` */
  async job<T>(job: string, permit: GuardingPermit, work: () => T | Promise<T>): Promise<RunResult<T>> {
    const { instrumentation } = this.context;
    const call = () => this.report(job, permit, () => withLastingPermit(permit, work));
    if (!instrumentation) return this.#track(permit, call());
    const observed = instrumentation.run({ semaphore: permit.semaphore, job }, (begun) => {
      begun(permit.stored);
      return call();
    });
    return this.#track(permit, observed);
  }

  /** Runs `work`. An error makes a `problem` event, unless the end of the permit caused it. Never rejects. */
  guard<P extends RunPermit>(action: string, permit: P, work: (permit: P) => unknown): Promise<void> {
    return this.#track(permit, this.#guarded(action, permit, work));
  }

  /** Runs `work` with the events of a run, but {@link drain} does not wait for it. */
  report<T>(job: string, permit: GuardingPermit, work: () => T | Promise<T>) {
    const { events, nodeClock } = this.context;
    const run = { semaphore: permit.semaphore, job, run: ++this.#runs, permit: permit.stored };
    return reported(run, work, { events, nodeClock, permit, started: nodeClock.monotonic() });
  }

  /** Waits until all work under a permit has ended. @returns false if some goes on after `grace` ms */
  async drain({ token }: Pick<RunPermit, 'token'>, grace: number): Promise<boolean> {
    // Work that got stuck under a former permit is not under this one.
    const over = Promise.allSettled([...this.#running].flatMap(([work, its]) => (its === token ? [work] : [])));
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

  #track<T>({ token }: Pick<RunPermit, 'token'>, running: Promise<T>): Promise<T> {
    this.#running.set(running, token);
    const forget = () => void this.#running.delete(running);
    running.then(forget, forget);
    return running;
  }

  async #guarded<P extends RunPermit>(action: string, permit: P, work: (permit: P) => unknown): Promise<void> {
    try {
      await withLastingPermit(permit, () => work(permit));
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
