import type { Subscription } from 'rxjs';
import type { Context } from '../../context/context.js';
import type { StoredPermit } from '../../decision/index.js';
import { messageWithCauses } from '../../decision/index.js';
import { type RecordChange, StoreUnavailableError } from '../../store/index.js';
import { type RequestedEnd, type RequestedRun, withRequestedRun } from '../requested-run.js';
import { type RunRequest, isOpen } from './run-request.js';
import { RunRequestRecords } from './run-request-records.js';

/** A job of this node that can be run now. */
export interface RunnableJob {
  /** Name of the semaphore. */
  readonly semaphore: string;
  /** Name of the job. */
  readonly job: string;
  /** Calls the guarded method, as a scheduler does. */
  readonly call: () => unknown;
}

/** Characters. */
const LONGEST_MESSAGE = 500;

/**
 * Runs this node's jobs when a person or program asks for it. Each node that has the job waits for a permit; the first
 * that gets one takes the request by compare-and-set, and runs the job under that permit. The others stop waiting.
 */
export class RunRequestHandler {
  /** By semaphore and job. */
  readonly #jobs = new Map<string, Map<string, RunnableJob>>();
  /** Requests that this node tries to take now, by id. */
  readonly #trying = new Map<string, AbortController>();
  #subscription?: Subscription;

  constructor(
    private readonly requests: RunRequestRecords,
    private readonly context: Context,
  ) {}

  /** Serves requests for these jobs from now on. Without a job, this node asks the store nothing. */
  serve(jobs: readonly RunnableJob[]): void {
    for (const job of jobs) {
      const same = this.#jobs.get(job.semaphore) ?? new Map<string, RunnableJob>();
      this.#jobs.set(job.semaphore, same.set(job.job, job));
    }
    if (jobs.length === 0) return;
    this.requests.listen((change) => void this.#observe(change));
    // A look that failed, for example just after a reconnection, is made up for when the store answers again.
    this.#subscription ??= this.context.events.subscribe(({ type }) => {
      if (type === 'store-back') void this.#observe({});
    });
  }

  /** Ends the watch. */
  stop(): Promise<void> {
    this.#subscription?.unsubscribe();
    return this.requests.stop();
  }

  /** Takes requests in, as they stand in the store. */
  takeIn(semaphore: string, requests: readonly RunRequest[]): void {
    const jobs = this.#jobs.get(semaphore);
    if (!jobs) return;
    for (const request of requests) {
      if (request.node ?? request.isGivenUp) this.#trying.get(request.id)?.abort();
      else if (jobs.has(request.job) && !this.#trying.has(request.id)) {
        void this.#try(jobs.get(request.job)!, request);
      }
    }
  }

  async #observe({ key, text }: RecordChange): Promise<void> {
    const names = [...this.#jobs.keys()].filter((name) => key === undefined || key === RunRequestRecords.keyOf(name));
    if (names.length === 0) return;
    if (key !== undefined && text !== undefined) return this.takeIn(names[0]!, this.requests.decode(names[0]!, text));
    // Anything may have changed, for example after a reconnection.
    const keys = names.map((name) => RunRequestRecords.keyOf(name));
    const reading = this.context.store.records.readMany(keys);
    const texts = await reading.catch((error: unknown) => this.#reportLook(error));
    for (const name of names) {
      const found = texts?.get(RunRequestRecords.keyOf(name));
      if (found !== undefined) this.takeIn(name, this.requests.decode(name, found));
    }
  }

  async #try(job: RunnableJob, request: RunRequest): Promise<void> {
    const ending = new AbortController();
    this.#trying.set(request.id, ending);
    let isClaimed = false;
    try {
      if (!this.context.clusterClock.isFresh) await this.context.clusterClock.sample();
      const now = this.context.clusterClock.latest();
      if (!isOpen(request, now)) return;
      const claimed = () => (isClaimed = true);
      const asked = this.#asked(job, request, { wait: request.expiresAt - now, signal: ending.signal, claimed });
      await withRequestedRun(asked, () => job.call());
    } catch (error) {
      // An error of the run itself is in its events and in the request.
      if (!isClaimed && !ending.signal.aborted) this.#report(job.semaphore, error);
    } finally {
      this.#trying.delete(request.id);
    }
  }

  #asked(
    { semaphore, job }: RunnableJob,
    { id, by }: RunRequest,
    { claimed, ...wait }: Pick<RequestedRun, 'wait' | 'signal'> & { readonly claimed: () => void },
  ): RequestedRun {
    return {
      semaphore,
      job,
      by,
      ...wait,
      claim: async ({ token }: StoredPermit) => {
        const isOurs = await this.requests.claim(semaphore, id, token).catch((error: unknown) => {
          this.#report(semaphore, error);
          return false;
        });
        if (isOurs) claimed();
        return isOurs;
      },
      ended: async (end) => {
        const noting = this.requests.end(semaphore, id, outcomeOf(end));
        await noting.catch((error: unknown) => this.#report(semaphore, error));
      },
    };
  }

  #reportLook(error: unknown): void {
    const { reachability, events } = this.context;
    if (error instanceof StoreUnavailableError) reachability.lost(error);
    events.next({ type: 'problem', action: 'look for run requests', error });
  }

  #report(semaphore: string, error: unknown): void {
    this.context.events.next({ type: 'problem', semaphore, action: 'run by hand', error });
  }
}

function outcomeOf(end: RequestedEnd) {
  const failed = 'error' in end;
  const message = failed ? messageWithCauses(end.error).slice(0, LONGEST_MESSAGE) : undefined;
  const outcome = end.isLost ? 'lost' : failed ? 'failed' : 'ok';
  return { outcome, took: Math.round(end.took), ...(message !== undefined && { message }) } as const;
}
