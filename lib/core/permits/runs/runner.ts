import type { CancelTimer } from '../../async/node-clock.js';
import { type DenialReason, omitUndefined } from '../../decision/index.js';
import type { Context } from '../../context/context.js';
import { isInRun, withPermit } from './current-permit.js';
import type { RunOfJob, SkipReason } from '../../context/events.js';
import type { AttemptOptions, RunSettings, SkipCallback, Skipped } from '../call-options.js';
import type { HeldLeases } from '../held-leases.js';
import { type AcquireOutcome, HeldPermit } from '../held-permit.js';
import { Overlaps } from './overlaps.js';
import type { RequestedRun } from '../requested-run.js';
import { Retries } from './retries.js';
import { RunSkippedError } from './run-skipped.error.js';
import { type RunPermit, UnguardedPermit } from './run-permit.js';

/** The part of {@link HeldLeases} that runs use. */
export interface RunLeases extends Pick<HeldLeases, 'release' | 'holdUntilExpiry' | 'endUse'> {
  /**
   * @param options.wait ms to wait for a permit; undefined: one try without waiting
   * @param options.signal ends the wait, which then rejects with its reason
   */
  attempt(options: AttemptOptions & { readonly wait?: number; readonly signal?: AbortSignal }): Promise<AcquireOutcome>;
  /** Whether a failed run may be tried again now. Absent: always. */
  mayRetry?(options: Pick<AttemptOptions, 'acquirer'>): boolean;
}

/** The result of a run: the value of the work, or the reason why it was skipped. */
export type RunResult<T> =
  | {
      /** Whether the work ran. */
      readonly executed: true;
      /** The value that the work returned. */
      readonly value: T;
    }
  | {
      /** Whether the work ran. */
      readonly executed: false;
      /** Why it was skipped. */
      readonly reason: SkipReason;
    };

/** The wait for a permit ended because the run is no longer wanted. */
const NOT_WANTED: AcquireOutcome = { reason: 'no-permit', holders: [] };

/** Runs work under permits of one semaphore. */
export class Runner {
  #count = 0;
  readonly #overlaps: Overlaps;
  readonly #retries: Retries;
  #pendingReleases = new Map<HeldPermit, CancelTimer>();
  /** The permits of the runs that go on, with the names of their jobs. */
  readonly #running = new Map<HeldPermit, string>();

  constructor(
    private readonly semaphore: string,
    private readonly heldLeases: RunLeases,
    private readonly context: Pick<Context, 'events' | 'nodeClock' | 'instrumentation'> &
      Partial<Pick<Context, 'random'>>,
  ) {
    this.#overlaps = new Overlaps(context.nodeClock);
    this.#retries = new Retries(context);
  }

  /** Resolves when all runs have ended. */
  idle(): Promise<void> {
    return this.#overlaps.idle();
  }

  /** Skips the runs that wait for the former run of their job, and tries no run again, because this node shuts down. */
  stopWaiting(): void {
    this.#overlaps.close();
    this.#retries.reconsider();
  }

  /**
   * Ends the permits of the runs that go on: their signals abort, because this node shuts down now. A run that ends soon
   * after that still gives its permit back.
   *
   * @returns whether there was one
   */
  cut(): boolean {
    for (const permit of this.#running.keys()) this.heldLeases.endUse(permit, 'closing');
    return this.#running.size > 0;
  }

  /** The runs that go on. @returns the name of the job, and the ms for which its permit stays in the store */
  get running(): readonly { readonly job: string; readonly left: number }[] {
    return [...this.#running].map(([{ lease }, job]) => ({ job, left: Math.max(0, lease.left) }));
  }

  /** Call this when the semaphore has changed: a run that waits to be tried again may have to end. */
  reconsider(): void {
    this.#retries.reconsider();
  }

  /** @throws RunSkippedError if the run is skipped and `onSkip` is `'throw'`, or any error of `work` */
  run<T>(work: (permit: RunPermit) => T | Promise<T>, settings: RunSettings): Promise<RunResult<T>> {
    const { instrumentation } = this.context;
    if (!instrumentation) return this.#inTurn(work, settings);
    const { semaphore } = this;
    let hasBegun = false;
    return instrumentation.run({ semaphore, job: settings.job }, (begun) =>
      this.#inTurn((permit) => {
        // A run that is tried again has begun only once.
        if (!hasBegun) begun(permit instanceof HeldPermit ? permit.lease.permit : undefined);
        hasBegun = true;
        return work(permit);
      }, settings),
    );
  }

  async #inTurn<T>(work: (permit: RunPermit) => T | Promise<T>, settings: RunSettings): Promise<RunResult<T>> {
    const { wait } = settings;
    const called = this.context.nodeClock.monotonic();
    const key = overlapKey(settings);
    if (settings.overlap === 'allow' || !this.#overlaps.isRunning(key)) this.#overlaps.begin(key);
    else if (isInRun({ of: this.#overlaps, key })) return this.#skip(settings, 'own-run');
    else if (!(await this.#overlaps.waitForFormer(key, wait ?? 0))) {
      return this.#skip(settings, this.#overlaps.isClosed ? 'closing' : 'overlap');
    }
    try {
      const waited = this.context.nodeClock.monotonic() - called;
      return await this.#attempt(work, { ...settings, wait: wait && Math.max(0, wait - waited) });
    } finally {
      this.#overlaps.end(key);
    }
  }

  /** Ends the uses that wait for their `atLeastFor`. {@link HeldLeases.close} then releases their permits. */
  close(): void {
    for (const [permit, cancel] of this.#pendingReleases) {
      cancel();
      void this.#hold(permit);
    }
    this.#pendingReleases.clear();
  }

  async #attempt<T>(work: (permit: RunPermit) => T | Promise<T>, settings: RunSettings): Promise<RunResult<T>> {
    const { holder, acquirer, duration, keepAlive, wait, request } = settings;
    const asking = this.heldLeases.attempt({ holder, acquirer, duration, keepAlive, wait, signal: request?.signal });
    const attempt = await asking.catch((error: unknown) => {
      if (request?.signal.aborted) return NOT_WANTED;
      throw error;
    });
    if (attempt.permit) return this.#claimed(attempt.permit, work, settings);
    if (settings.onUnavailable === 'run' && isOutOfReach(attempt))
      return this.#unguarded(attempt.reason, work, settings);
    return this.#skip(settings, attempt.reason, attempt.error);
  }

  /** Runs the work, unless another node has taken the request that it answers. */
  async #claimed<T>(permit: HeldPermit, work: (permit: RunPermit) => T | Promise<T>, settings: RunSettings) {
    const { request } = settings;
    if (!request) return this.#guarded(permit, work, settings);
    if (!(await request.claim(permit.lease.permit))) {
      await this.#release(permit);
      return this.#skip<T>(settings, 'no-permit');
    }
    if (permit.isHeld) return this.#guarded(permit, work, settings);
    // The permit was lost while the request was taken.
    await request.ended({ took: 0, isLost: true, error: permit.signal.reason });
    return this.#skip<T>(settings, 'permit-lost');
  }

  async #guarded<T>(permit: HeldPermit, work: (permit: RunPermit) => T | Promise<T>, settings: RunSettings) {
    const { nodeClock } = this.context;
    const started = nodeClock.monotonic();
    const { maxRunTime } = settings;
    // The permit is not released but expires, so that the next run does not start at once beside a run that ignores its
    // signal.
    const cancel =
      maxRunTime === undefined
        ? undefined
        : nodeClock.schedule(() => this.heldLeases.endUse(permit, 'max-run-time'), maxRunTime);
    this.#running.set(permit, settings.job);
    const ended = (end: { readonly error?: unknown }) =>
      settings.request?.ended({ ...end, took: nodeClock.monotonic() - started, isLost: !permit.isHeld });
    try {
      const result = await this.#execute(permit, work, settings, started);
      await ended({});
      return result;
    } catch (error) {
      await ended({ error });
      throw error;
    } finally {
      cancel?.();
      this.#running.delete(permit);
      await this.#finish(permit, settings, nodeClock.monotonic() - started);
    }
  }

  #unguarded<T>(reason: DenialReason, work: (permit: RunPermit) => T | Promise<T>, settings: RunSettings) {
    this.context.events.next({ type: 'run-unguarded', semaphore: this.semaphore, job: settings.job, reason });
    return this.#execute(new UnguardedPermit(this.semaphore), work, settings, this.context.nodeClock.monotonic());
  }

  async #execute<T>(
    permit: RunPermit,
    work: (permit: RunPermit) => T | Promise<T>,
    settings: RunSettings,
    started: number,
  ): Promise<RunResult<T>> {
    const held = permit instanceof HeldPermit ? permit : undefined;
    const { by, missed } = settings.request ?? {};
    const cause = { ...(by !== undefined && { by }), ...(missed !== undefined && { missed }) };
    const stored = held && { permit: held.lease.permit };
    const run = { semaphore: this.semaphore, job: settings.job, run: ++this.#count, ...cause, ...stored };
    const reporting = { ...this.context, permit: held, started };
    const own = { of: this.#overlaps, key: overlapKey(settings) };
    const once = () => withPermit(permit, own, () => work(permit));
    const { retry: policy } = settings;
    if (!policy || !held) return reported(run, once, reporting);
    const progress = { attempts: 1 };
    const attempt = (number: number) => {
      progress.attempts = number;
      return once();
    };
    const mayRetry = () => !this.#overlaps.isClosed && this.heldLeases.mayRetry?.(settings) !== false;
    const retried = { run, permit, policy, mayRetry, work: attempt };
    return reported(run, () => this.#retries.run(retried), { ...reporting, progress });
  }

  async #finish(permit: HeldPermit, { atLeastFor }: RunSettings, took: number): Promise<void> {
    if (atLeastFor === undefined) return this.#hold(permit);
    if (took >= atLeastFor) return this.#release(permit);
    const later = () => {
      this.#pendingReleases.delete(permit);
      void this.#release(permit);
    };
    this.#pendingReleases.set(permit, this.context.nodeClock.schedule(later, atLeastFor - took));
  }

  #release(permit: HeldPermit): Promise<void> {
    return this.#reported(() => this.heldLeases.release(permit));
  }

  #hold(permit: HeldPermit): Promise<void> {
    return this.#reported(() => this.heldLeases.holdUntilExpiry(permit));
  }

  /** A failed release does not fail the run, because it is retried in the background. */
  async #reported(release: () => Promise<void>): Promise<void> {
    try {
      await release();
    } catch (error) {
      this.context.events.next({ type: 'problem', semaphore: this.semaphore, action: 'release', error });
    }
  }

  #skip<T>({ job, onSkip, request }: RunSettings, reason: SkipReason, cause?: Error): RunResult<T> {
    // Usually another node runs it. The caller of the request hears what became of it.
    if (request) return { executed: false, reason };
    const skipped = { semaphore: this.semaphore, job, reason };
    this.context.events.next({ type: 'run-skipped', ...skipped });
    if (onSkip === 'throw') throw new RunSkippedError(skipped, { cause });
    void this.#tell(skipped, onSkip);
    return { executed: false, reason };
  }

  /** Calls `onSkip`. An error of the callback must not turn a skipped run into a failed one. */
  async #tell(skipped: Skipped, onSkip: SkipCallback | undefined): Promise<void> {
    try {
      await onSkip?.(skipped);
    } catch (error) {
      this.context.events.next({ type: 'problem', semaphore: this.semaphore, action: 'onSkip', error });
    }
  }
}

/** Runs of different holders do not overlap, because each holder has its own permit. */
function overlapKey({ job, holder = '' }: Pick<RunSettings, 'job' | 'holder'>): string {
  return `${job}\n${holder}`;
}

/** The settings of a run that answers a request. It never runs without a permit, and its skip concerns no caller. */
export function requested(settings: RunSettings, request: RequestedRun): RunSettings {
  return { ...settings, wait: request.wait, onUnavailable: 'skip', onSkip: undefined, request };
}

interface Reporting extends Pick<Context, 'events' | 'nodeClock'> {
  readonly started: number;
  /** Absent for a run without a permit. */
  readonly permit: Pick<HeldPermit, 'loss'> | undefined;
  readonly progress?: { readonly attempts: number };
}

/**
 * Runs work, and reports its start and its end as events.
 *
 * @param context.started monotonic ms of the run's start
 * @param context.progress number of the last attempt, read at the end; absent for a run that is not tried again
 * @throws any error of `work`
 */
export async function reported<T>(
  run: RunOfJob,
  work: () => T | Promise<T>,
  { events, nodeClock, started, permit, progress }: Reporting,
): Promise<RunResult<T> & { readonly executed: true }> {
  const end = () => ({ ...progress, ...omitUndefined({ loss: permit?.loss }), took: nodeClock.monotonic() - started });
  events.next({ type: 'run-started', ...run });
  try {
    const value = await work();
    events.next({ type: 'run-finished', ...run, ...end() });
    return { executed: true, value };
  } catch (error) {
    events.next({ type: 'run-finished', ...run, ...end(), error });
    throw error;
  }
}

function isOutOfReach(attempt: AcquireOutcome & { permit?: undefined }): boolean {
  return attempt.reason === 'unavailable' || attempt.reason === 'no-quorum';
}
