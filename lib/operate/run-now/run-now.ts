import type { Audit, JobInfo, NodeInfo } from '../activity/index.js';
import { Wakeup } from '../../core/async/wakeup.js';
import type { Context } from '../../core/context/context.js';
import {
  type Expiring,
  InvalidOptionsError,
  type SemaphoreRecord,
  type StoredPermit,
  faultsOf,
  graceIn,
  holdersIn,
  messageOf,
  nameSchema,
  onlyFields,
  quoted,
  show,
  unreserved,
} from '../../core/decision/index.js';
import { delaySchema } from '../../core/decision/option-types.js';
import { authorOf, reasonSchema } from '../../core/context/change-options.js';
import { UnknownSemaphoreError } from '../../core/permits/permits.errors.js';
import type { SemaphoreCell } from '../../core/cell/semaphore-records.js';
import { UnknownRunError } from '../../core/permits/by-hand/by-hand.errors.js';
import type { RunnableNow, RunNowStatus, RunNowPlan } from './answers.js';
import { chosenJob, jobsUnder, runnableNow, shortageOf } from './run-plan.js';
import type { RunRequest } from '../../core/permits/by-hand/run-request.js';
import { RunRequestRecords } from '../../core/permits/by-hand/run-request-records.js';
import { isFinal, statusOf } from './run-status.js';

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

interface RunNowParts {
  readonly context: Context;
  readonly audit: Audit;
  readonly requests: RunRequestRecords;
  /** Lists the living nodes. */
  readonly nodes: () => Promise<readonly NodeInfo[]>;
  /** The jobs of this node, which may not be in the list. */
  readonly ownJobs: () => readonly JobInfo[];
  /** Runs work with the record cell of a name. */
  readonly visit: <T>(name: string, work: (cell: SemaphoreCell) => Promise<T>) => Promise<T>;
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

  /** See `GatekeeperService.runNow`. @param signal ends the wait */
  async run(target: RunNowTarget, options: RunNowOptions = {}, signal?: AbortSignal): Promise<RunNowStatus> {
    const { semaphore, job } = checkedTarget(target);
    const { data, error } = optionsSchema.safeParse(options);
    if (error) throw new InvalidOptionsError(`a run of semaphore ${show(semaphore)}`, faultsOf(error));
    const { timeout, ...author } = data;
    const request = await this.#ask(semaphore, job, authorOf(author, this.parts.context.node));
    let last: RunNowStatus | undefined;
    try {
      return await this.follow(semaphore, request.id, { timeout, signal, seen: (status) => (last = status) });
    } catch (error) {
      // The request is written. An error would look as if it were not, and a second call would run the job twice.
      return last ?? unread(semaphore, request, error);
    }
  }

  /**
   * Waits until a run that was asked for has ended, or until no node can take it any more.
   *
   * @param options.timeout ms; default: no limit. 0: reads its state once
   * @param options.signal ends the wait
   * @param options.seen gets each state
   * @returns its state then
   * @throws UnknownRunError, StoreUnavailableError
   */
  async follow(
    semaphore: string,
    id: string,
    { timeout = Infinity, signal, seen }: FollowOptions = {},
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
        seen?.(status);
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
    const nodesRead = this.#nodes();
    // The permits after the requests: a run takes its permit before its request.
    const requestsRead = this.parts.requests.read(semaphore);
    const stateRead = requestsRead.then(() => this.#state(semaphore));
    const [nodes, { now, requests }, state] = await Promise.all([nodesRead, requestsRead, stateRead]);
    const { record, holders } = state;
    const jobs = runnableNow(defined(semaphore, record), jobsUnder(semaphore, nodes));
    const shown = await this.#statuses(semaphore, requests, { ...state, now, jobs });
    return { now, jobs, holders: holders.map(({ acquirer }) => acquirer), requests: shown.toReversed() };
  }

  async #ask(semaphore: string, wanted: string | undefined, author: { readonly by: string; readonly reason?: string }) {
    const [{ record }, nodes] = await Promise.all([this.#state(semaphore), this.#nodes()]);
    const { job } = chosenJob(semaphore, runnableNow(defined(semaphore, record), jobsUnder(semaphore, nodes)), wanted);
    const { requests, audit } = this.parts;
    const entry = { semaphore, action: 'run-now', job, ...author } as const;
    const request = await audit.evenIfUnknown(
      () => entry,
      () => requests.ask(semaphore, { job, ...author }),
    );
    audit.note(entry);
    return request;
  }

  async #look(semaphore: string, id: string): Promise<RunNowStatus> {
    const { now, requests } = await this.parts.requests.read(semaphore, id);
    const request = requests.find((each) => each.id === id);
    if (!request) throw new UnknownRunError(semaphore, id);
    if (request.outcome !== undefined) return statusOf(semaphore, request, { now, hasPermit: true });
    const state = await this.#state(semaphore);
    const { record } = state;
    const jobs = request.node || !record?.definition ? [] : await this.#runnable(semaphore, record);
    const [status] = await this.#statuses(semaphore, [request], { ...state, now, jobs });
    return status!;
  }

  async #runnable(semaphore: string, record: SemaphoreRecord): Promise<readonly RunnableNow[]> {
    return runnableNow(record, jobsUnder(semaphore, await this.#nodes()));
  }

  /** @param facts were read after the requests */
  async #statuses(semaphore: string, requests: readonly RunRequest[], facts: StatusFacts): Promise<RunNowStatus[]> {
    const statuses = requests.map((request) => this.#status(semaphore, request, facts));
    if (!statuses.some(({ state }) => state === 'unclear')) return statuses;
    // The run may have ended between the two reads. Its end is written before its permit is released.
    const later = (await this.parts.requests.read(semaphore)).requests;
    const asNow = (request: RunRequest) => later.find(({ id }) => id === request.id) ?? request;
    return requests.map((request) => this.#status(semaphore, asNow(request), facts));
  }

  #status(semaphore: string, request: RunRequest, { now, record, holders, grace, jobs }: StatusFacts): RunNowStatus {
    const hasPermit = holders.some(({ token }) => token === request.token);
    const own = jobs.find(({ job }) => job === request.job);
    const missing = own ? own.obstacle : `no living node has ${quoted(request.job)}`;
    const obstacle = missing ?? (record && shortageOf(record, holders, grace));
    return statusOf(semaphore, request, { now, hasPermit, obstacle });
  }

  #state(semaphore: string): Promise<State> {
    return this.parts.visit(semaphore, (cell) =>
      cell.transact<State>((record, view) => ({
        result: { record, holders: holdersIn(record, view), grace: graceIn(record, view) },
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

interface FollowOptions {
  readonly timeout?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly seen?: (status: RunNowStatus) => void;
}

interface State {
  readonly record: SemaphoreRecord | undefined;
  /** The permits that have not expired. */
  readonly holders: readonly StoredPermit[];
  /** The grace after lost data, while it lasts. */
  readonly grace: Expiring | undefined;
}

interface StatusFacts extends State {
  /** Cluster time in ms. */
  readonly now: number;
  readonly jobs: readonly RunnableNow[];
}

/** Status of a request that was made, and could not be read since. */
function unread(semaphore: string, request: RunRequest, error: unknown): RunNowStatus {
  const obstacle = `it was asked for, but its state can't be read now (${messageOf(error)})`;
  return statusOf(semaphore, request, { now: request.at, hasPermit: false, obstacle });
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
