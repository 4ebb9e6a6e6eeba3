import type { Audit, JobInfo, NodeInfo } from '../../activity/index.js';
import { Wakeup } from '../../async/wakeup.js';
import type { Context } from '../../context/context.js';
import {
  InvalidOptionsError,
  type SemaphoreRecord,
  type StoredPermit,
  faultsOf,
  nameSchema,
  onlyFields,
  quoted,
  show,
  unreserved,
} from '../../decision/index.js';
import { delaySchema } from '../../decision/option-types.js';
import { authorOf, reasonSchema } from '../../definitions/change-options.js';
import { UnknownSemaphoreError } from '../../definitions/definitions.errors.js';
import type { SemaphoreClient } from '../../records/semaphore-records.js';
import { UnknownRunError } from './by-hand.errors.js';
import { type RunnableNow, chosenJob, jobsUnder, runnableNow, shortageOf } from './run-plan.js';
import type { RunRequest } from './run-request.js';
import { RunRequests } from './run-requests.js';
import { type RunNowStatus, isFinal, statusOf } from './run-status.js';

/** The job to run: the name of its semaphore, with the name of the job if the semaphore has several. */
export type RunNowTarget =
  | string
  | {
      /** Name of the semaphore. */
      readonly semaphore: string;
      /** Name of the job; needed if the semaphore has several. */
      readonly job?: string;
    };

/** Options of `runNow`. */
export interface RunNowOptions {
  /** The author; the audit log and the history show it. Default: the node's own acquirer name. */
  readonly by?: string;
  /** The reason; the audit log shows it. */
  readonly reason?: string;
  /** How long to wait for the end of the run, ms or text. 0: only ask. Default: until it has ended. */
  readonly timeout?: number | string;
}

/** The jobs of a semaphore that could be run now, and the latest requests. */
export interface RunNowPlan {
  /** Cluster time in ms. */
  readonly now: number;
  /** Sorted by name. */
  readonly jobs: readonly RunnableNow[];
  /** The nodes that hold its permits now, in the order of the slots. */
  readonly holders: readonly string[];
  /** The latest requests, newest first, at most 10. */
  readonly requests: readonly RunNowStatus[];
}

interface RunNowParts {
  readonly context: Context;
  readonly audit: Audit;
  readonly requests: RunRequests;
  /** Lists the living nodes. */
  readonly nodes: () => Promise<readonly NodeInfo[]>;
  /** The jobs of this node, which may not be in the list. */
  readonly ownJobs: () => readonly JobInfo[];
  /** Runs work with the record client of a name. */
  readonly visit: <T>(name: string, work: (client: SemaphoreClient) => Promise<T>) => Promise<T>;
}

/** ms between two looks at a request; hints make it shorter. */
const LOOK = 1000;

const optionsSchema = onlyFields({
  by: nameSchema.optional(),
  reason: reasonSchema.optional(),
  timeout: delaySchema.optional(),
});

const targetSchema = onlyFields({ semaphore: nameSchema, job: nameSchema.optional() });

/** Runs of jobs that people and programs ask for, from any process that can reach the store. */
export class RunNow {
  constructor(private readonly parts: RunNowParts) {}

  /** See `GatekeeperService.runNow`. */
  async run(target: RunNowTarget, options: RunNowOptions = {}): Promise<RunNowStatus> {
    const { semaphore, job } = checkedTarget(target);
    const { data, error } = optionsSchema.safeParse(options);
    if (error) throw new InvalidOptionsError(`a run of semaphore ${show(semaphore)}`, faultsOf(error));
    const { timeout, ...author } = data;
    const request = await this.#ask(semaphore, job, authorOf(author, this.parts.context.node));
    return this.follow(semaphore, request.id, { timeout });
  }

  /**
   * Waits until a run that was asked for has ended, or until no node can take it any more.
   *
   * @param options.timeout ms; default: no limit. 0: reads its state once
   * @param options.signal ends the wait
   * @returns its state then
   * @throws UnknownRunError, StoreUnavailableError
   */
  async follow(
    semaphore: string,
    id: string,
    { timeout = Infinity, signal }: { readonly timeout?: number | undefined; readonly signal?: AbortSignal } = {},
  ): Promise<RunNowStatus> {
    const { nodeClock, isClosing } = this.parts.context;
    const until = nodeClock.monotonic() + timeout;
    const wakeup = new Wakeup(nodeClock);
    const endListening = timeout > 0 ? this.parts.requests.listen(wakeup.ring) : undefined;
    signal?.addEventListener('abort', wakeup.ring);
    try {
      for (;;) {
        wakeup.reset();
        const status = await this.#look(semaphore, id);
        const left = until - nodeClock.monotonic();
        if (isFinal(status) || left <= 0 || isClosing() || signal?.aborted) return status;
        await wakeup.wait(Math.min(LOOK, left));
      }
    } finally {
      endListening?.();
      signal?.removeEventListener('abort', wakeup.ring);
    }
  }

  /**
   * Says which jobs of a semaphore could be run now, and on which nodes.
   *
   * @throws UnknownSemaphoreError, StoreUnavailableError
   */
  async plan(semaphore: string): Promise<RunNowPlan> {
    unreserved(semaphore);
    const [{ record, holders }, nodes, { now, requests }] = await Promise.all([
      this.#state(semaphore),
      this.#nodes(),
      this.parts.requests.read(semaphore),
    ]);
    const jobs = runnableNow(defined(semaphore, record), jobsUnder(semaphore, nodes));
    const shown = requests.map((request) => this.#status(semaphore, request, { now, record, holders, jobs }));
    return { now, jobs, holders: holders.map(({ acquirer }) => acquirer), requests: shown.toReversed() };
  }

  async #ask(semaphore: string, wanted: string | undefined, author: { readonly by: string; readonly reason?: string }) {
    const [{ record }, nodes] = await Promise.all([this.#state(semaphore), this.#nodes()]);
    const { job } = chosenJob(semaphore, runnableNow(defined(semaphore, record), jobsUnder(semaphore, nodes)), wanted);
    const { requests, audit } = this.parts;
    const request = await requests.ask(semaphore, { job, ...author });
    audit.note({ semaphore, action: 'run-now', job, ...author });
    return request;
  }

  async #look(semaphore: string, id: string): Promise<RunNowStatus> {
    const { now, requests } = await this.parts.requests.read(semaphore, id);
    const request = requests.find((each) => each.id === id);
    if (!request) throw new UnknownRunError(semaphore, id);
    if (request.outcome !== undefined) return statusOf(semaphore, request, { now, hasPermit: true });
    const { record, holders } = await this.#state(semaphore);
    const jobs = request.node || !record?.definition ? [] : await this.#runnable(semaphore, record);
    return this.#status(semaphore, request, { now, record, holders, jobs });
  }

  async #runnable(semaphore: string, record: SemaphoreRecord): Promise<readonly RunnableNow[]> {
    return runnableNow(record, jobsUnder(semaphore, await this.#nodes()));
  }

  #status(
    semaphore: string,
    request: RunRequest,
    { now, record, holders, jobs }: State & { readonly now: number; readonly jobs: readonly RunnableNow[] },
  ): RunNowStatus {
    const hasPermit = holders.some(({ token }) => token === request.token);
    const own = jobs.find(({ job }) => job === request.job);
    const missing = own ? own.obstacle : `no living node has ${quoted(request.job)}`;
    const obstacle = missing ?? (record && shortageOf(record, holders));
    return statusOf(semaphore, request, { now, hasPermit, obstacle });
  }

  #state(semaphore: string): Promise<State> {
    return this.parts.visit(semaphore, (client) =>
      client.transact<State>((record, view) => ({
        result: { record, holders: record?.permits.filter((permit) => !view.isExpired(permit)) ?? [] },
      })),
    );
  }

  /** This node is among them also before its first heartbeat, or without one. */
  async #nodes(): Promise<readonly NodeInfo[]> {
    const { context, ownJobs } = this.parts;
    const others = (await this.parts.nodes()).filter(({ instance }) => instance !== context.node.instance);
    const own = { ...context.node, jobs: ownJobs() } as NodeInfo;
    return [...others, own];
  }
}

interface State {
  readonly record: SemaphoreRecord | undefined;
  /** The permits that have not expired. */
  readonly holders: readonly StoredPermit[];
}

/** @throws InvalidOptionsError, ReservedNameError */
function checkedTarget(target: RunNowTarget): { readonly semaphore: string; readonly job?: string | undefined } {
  const { data, error } = targetSchema.safeParse(typeof target === 'string' ? { semaphore: target } : target);
  if (error) throw new InvalidOptionsError('the job to run now', faultsOf(error));
  unreserved(data.semaphore);
  return data;
}

/** @throws UnknownSemaphoreError */
function defined(semaphore: string, record: SemaphoreRecord | undefined): SemaphoreRecord {
  if (!record?.definition) throw new UnknownSemaphoreError(semaphore);
  return record;
}
