import { Deadline, DeadlinePassed } from '../async/deadline.js';
import type { Timers } from '../async/timers.js';
import { messageOf } from '../decision/index.js';
import type { StoreHealth } from './store-health.js';
import type {
  ClockReading,
  Driver,
  HintQueue,
  Journal,
  RecordChange,
  RecordPage,
  TextEntry,
  TextCollection,
  TransactionCollection,
  WriteOptions,
} from './driver.js';
import { allTexts, inBatches } from './paging.js';
import { StoreUnavailableError, unanswered, unclear, writeError } from './store.errors.js';

/** Entries of the node registry. Keys without a prefix of this file are records, of whatever kind. */
const NODES_PREFIX = 'nodes:';
/** Histories of jobs. */
const HISTORY_PREFIX = 'history:';

/** Kinds of calls. Each is observed separately: single records, the members' clocks, every list that people see, and tasks. */
export type StorePart = 'reads' | 'writes' | 'clock' | 'records' | 'nodes' | 'runs' | 'audit' | 'moves' | 'tasks';

/** Failed calls of one kind, with no answered call between them. Times are the node's monotonic ms. */
export interface Failing {
  /** Begin of the first. */
  readonly since: number;
  /** End of the first. */
  readonly firstAt: number;
  /** End of the last. */
  readonly lastAt: number;
  readonly error: Error;
  /** Whether a call that began after the end of the first failed too. Calls lost together have one cause. */
  readonly isRepeated: boolean;
}

/** Outcomes of the calls of one kind. All times are the node's monotonic ms. */
export interface CallFacts {
  /** When the newest answered call began. Its answer is not older than that. */
  readonly answeredAt?: number;
  /** Present after a failed call, until a call is answered. */
  readonly failing?: Failing;
  /** Start of the oldest call that began after the last call ended; absent if there is none. */
  readonly waitingSince?: number;
}

/** ms. Reads may be answered in another order than they were asked. One that waits for longer shows an outage. */
const OUTAGE = 1000;

/** Number of calls of which the latency is the median. */
const LATEST = 32;

/** Observes a call that has ended. @param took ms @param error present if the call failed */
export type OnCall = (part: StorePart, took: number, error?: unknown) => void;

/** Before the first use, and after a close that came before it. Names no kind of store: none has been opened. */
const NOT_OPENED = 'the store is opened by start(), in a Nest application by init() or listen(), or by the first call';
const CLOSED = 'the store is closed';

type FailureOf = (error: unknown) => unknown;

/** Makes the error of a call that was given up. */
type Late = (passed: DeadlinePassed, deadline: Deadline) => Error;

const lateWrite: Late = (passed, { timeout }) => unclear(timeout, passed);

const asItIs: FailureOf = (error) => error;

/** The time that a call may take. By default it has the store's timeout, from now. */
export interface CallLimit {
  /** The deadline of a larger call that this one is a part of. */
  readonly deadline?: Deadline | undefined;
  /** ms; without a deadline. */
  readonly timeout?: number;
}

/** As {@link TextCollection}, with the time that a call may take. */
export interface StoreCollection {
  read(key: string, limit?: CallLimit): Promise<string | undefined>;

  /** The texts under any number of keys. */
  readMany(keys: readonly string[], limit?: CallLimit): Promise<Map<string, string>>;

  compareAndSet(
    key: string,
    expected: string | undefined,
    next: string | undefined,
    options?: WriteOptions & CallLimit,
  ): Promise<boolean>;
}

/** The records, with what nodes ask of them beyond a driver. */
interface StoreRecords extends StoreCollection {
  /** A record is never removed. */
  compareAndSet(
    key: string,
    expected: string | undefined,
    next: string,
    options?: WriteOptions & CallLimit,
  ): Promise<boolean>;

  /** One page of the texts whose key begins with `prefix`. */
  page(prefix: string, after?: string): Promise<RecordPage>;

  /** Every text whose key begins with `prefix`. @param limit the time of each page; default {@link LIST_FACTOR} calls' */
  list(prefix: string, limit?: CallLimit): Promise<Map<string, string>>;
}

/** The tasks. */
interface StoreTasks extends StoreCollection {
  range(from: string, to: string, limit: number): Promise<TextEntry[]>;
}

/** Factor of `callTimeout` for one page of a listing: its answer may be large. */
export const LIST_FACTOR = 5;

/** Parts of a {@link Store}. */
interface StoreParts {
  /** Opens the driver. */
  readonly open: () => Driver;
  /** The timer of all deadlines. */
  readonly timers: Timers;
  /** ms that a call may take. */
  readonly callTimeout: number;
  readonly onCall?: OnCall | undefined;
}

/**
 * The only caller of a driver, and the only part that limits the time of its calls: each ends within its {@link CallLimit}, whatever
 * the driver does. A write without an answer then ends with UnknownOutcomeError, all else with StoreUnavailableError. A write ends
 * with one of these two, whatever the driver throws: see {@link writeError}.
 *
 * Opens the driver with its first use, and not earlier: an application that is made and never started, as in a unit test, must have
 * nothing to close. Records the outcomes of calls by kind. A call that was given up is observed when the driver ends it. Until then it
 * counts as waiting, or until another call of its kind ends.
 */
export class Store {
  readonly records: StoreRecords;
  readonly tasks: StoreTasks;
  readonly groups: StoreCollection;
  #opened: Driver | undefined;
  #isClosed = false;
  readonly #calls = new Map<StorePart, Changing<CallFacts>>();
  /** ms of the latest answered calls for single records, in a ring. */
  readonly #took: number[] = [];
  #next = 0;

  constructor(private readonly parts: StoreParts) {
    this.records = this.#storeRecords();
    this.groups = this.#storeTexts(({ groups }) => groups);
    this.tasks = {
      ...this.#storeTexts(({ tasks }) => tasks),
      range: (from, to, most) => this.#reading('tasks', 'list tasks', () => this.#driver.tasks.range(from, to, most)),
    };
  }

  /** Opens the driver, unless it is open. @throws StoreUnavailableError after {@link close} */
  open(): void {
    void this.#driver;
  }

  /** The present facts. The object changes later, so read it at once. */
  calls(part: StorePart): CallFacts {
    return this.#facts(part);
  }

  /** Median in ms of the latest answered reads and writes of single records; undefined before the first. */
  get latency(): number | undefined {
    return this.#took.toSorted((one, other) => one - other)[Math.floor(this.#took.length / 2)];
  }

  queue(name: string): HintQueue {
    let opened: HintQueue | undefined;
    const queue = () => (opened ??= this.#driver.queue(name));
    const reading = <T>(what: string, call: () => Promise<T>) => this.#reading('tasks', what, call);
    return {
      // A hint that was sent may still arrive.
      offer: (hints) => this.#writing('tasks', () => queue().offer(hints)),
      poll: (patience, signal) => this.#poll(queue, patience, signal),
      drain: (most) => reading('give hints', () => queue().drain(most)),
      remove: (hints) => this.#writing('tasks', () => queue().remove(hints)),
      peek: () => reading('give a hint', () => queue().peek()),
      size: () => reading('count hints', () => queue().size()),
    };
  }

  /**
   * Not observed: the application's connection says nothing about those of the store.
   *
   * @returns undefined if the store takes part in no transaction of the application
   */
  within(transaction: unknown): TransactionCollection | undefined {
    return this.#driver.within?.(transaction);
  }

  /** Limited like all calls: a reading without an answer would block all calls that wait for it. */
  now(): Promise<ClockReading> {
    return this.#reading('clock', 'return its time', () => this.#driver.now());
  }

  async watch(prefix: string, onChange: (change: RecordChange) => void): Promise<() => Promise<void>> {
    return this.#driver.watch(prefix, onChange);
  }

  awaitChanges(key?: string): () => void {
    return this.#driver.awaitChanges?.(key) ?? (() => undefined);
  }

  /** Does not open the driver: parts take their journals when they are made. */
  journal(name: string): Journal {
    let opened: Journal | undefined;
    const journal = () => (opened ??= this.#driver.journal(name));
    const part = name === 'runs' || name === 'audit' ? name : 'moves';
    return {
      // Not observed: failed reads are what people notice.
      append: async (texts) => {
        try {
          await this.#limited(() => journal().append(texts), lateWrite);
        } catch (error) {
          throw writeError(error);
        }
      },
      read: (limit) => this.#reading(part, `read the journal of ${name}`, () => journal().read(limit)),
    };
  }

  async verify(): Promise<void> {
    await this.#driver.verify?.();
  }

  /** Does not open the driver. */
  health(): StoreHealth {
    if (this.#opened) return this.#opened.health();
    return { connected: false, members: 0, quorum: 0, problem: this.#isClosed ? CLOSED : NOT_OPENED };
  }

  /** Closes the driver, if it is open. Calls fail from then on. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#opened?.close();
  }

  get #driver(): Driver {
    if (this.#opened) return this.#opened;
    if (this.#isClosed) throw new StoreUnavailableError(`${CLOSED}: its application has ended before it was used`);
    return (this.#opened = this.parts.open());
  }

  #storeRecords(): StoreRecords {
    const page = async (prefix: string, after?: string, limit = this.#forList): Promise<RecordPage> => {
      const begun = this.#now;
      const call = () => this.#driver.records.page(prefix, after);
      const found = await this.#reading(partOf(prefix), 'list the records', call, limit);
      // A listing reads the records, so it also proves that single records can be read again.
      this.#answered('reads', begun);
      return found;
    };
    return {
      read: (key, limit) => this.#reading('reads', 'read a record', () => this.#driver.records.read(key), limit),
      // Calls for keys of records count as `reads`, and for other keys as `nodes` or `runs`.
      readMany: (keys, limit) =>
        this.#reading(
          partOfKeys(keys),
          'read records',
          () => inBatches(keys, (some) => this.#driver.records.readMany(some)),
          limit,
        ),
      compareAndSet: (key, expected, next, options) => {
        const notify = options?.notify;
        const call = () => this.#driver.records.compareAndSet(key, expected, next, notify && { notify });
        return this.#writing('writes', call, options);
      },
      page: (prefix, after) => page(prefix, after),
      list: (prefix, limit) => allTexts({ page: (begin, after) => page(begin, after, limit) }, prefix),
    };
  }

  #storeTexts(of: (driver: Driver) => TextCollection): StoreCollection {
    const texts = () => of(this.#driver);
    return {
      read: (key, limit) => this.#reading('tasks', 'read a task', () => texts().read(key), limit),
      readMany: (keys, limit) =>
        this.#reading('tasks', 'read tasks', () => inBatches(keys, (some) => texts().readMany(some)), limit),
      compareAndSet: (key, expected, next, options) => {
        const hint = options?.hint;
        return this.#writing('tasks', () => texts().compareAndSet(key, expected, next, hint && { hint }), options);
      },
    };
  }

  get #forList(): CallLimit {
    return { timeout: LIST_FACTOR * this.parts.callTimeout };
  }

  get #now(): number {
    return this.parts.timers.clock.monotonic();
  }

  /** @param what the call in words, for the error: "list the records" */
  #reading<T>(part: StorePart, what: string, call: () => Promise<T>, limit?: CallLimit): Promise<T> {
    const late: Late = (passed, { timeout }) => unanswered(what, timeout, passed);
    return this.#limited(() => this.#observed(part, call), late, limit);
  }

  #writing<T>(part: StorePart, call: () => Promise<T>, limit?: CallLimit): Promise<T> {
    return this.#limited(() => this.#observed(part, call, writeError), lateWrite, limit);
  }

  #limited<T>(call: () => Promise<T>, late: Late, limit?: CallLimit): Promise<T> {
    const { timers, callTimeout } = this.parts;
    const deadline = limit?.deadline ?? new Deadline(timers, limit?.timeout ?? callTimeout);
    return deadline.race(started(call), (passed) => late(passed, deadline));
  }

  /** A poll that is given up must end. Otherwise it takes a hint later, and no node acts on it. */
  async #poll(queue: () => HintQueue, patience: number, signal: AbortSignal): Promise<string | undefined> {
    const { timers, callTimeout } = this.parts;
    const givenUp = new AbortController();
    // Not AbortSignal.any(): with a signal that lives as long as the node, its results are never freed.
    const giveUp = () => givenUp.abort(signal.reason);
    signal.addEventListener('abort', giveUp, { once: true });
    if (signal.aborted) giveUp();
    const ended = new Promise<undefined>((resolve) =>
      givenUp.signal.addEventListener('abort', () => resolve(undefined)),
    );
    try {
      const polled = () => queue().poll(patience, givenUp.signal);
      // It waits for something to happen: that it takes long says nothing about the store.
      const call = this.#observedEnd('tasks', polled, this.#now, { isPoll: true });
      return await new Deadline(timers, patience + callTimeout).race(Promise.race([call, ended]));
    } catch (error) {
      // Not of the driver's own limit: that is a failure of the store.
      if (!(error instanceof DeadlinePassed)) throw error;
      givenUp.abort(error);
      return undefined;
    } finally {
      signal.removeEventListener('abort', giveUp);
    }
  }

  #observed<T>(part: StorePart, call: () => Promise<T>, failureOf?: FailureOf): Promise<T> {
    const begun = this.#now;
    this.#facts(part).waitingSince ??= begun;
    return this.#observedEnd(part, call, begun, { failureOf });
  }

  /**
   * @param how.isPoll whether the call waits for something to happen, so that its time says nothing
   * @param how.failureOf maps the error of the store. Not in a `catch` of its own: that is one more promise per call
   */
  #observedEnd<T>(
    part: StorePart,
    call: () => Promise<T>,
    begun: number,
    { isPoll = false, failureOf = asItIs }: { readonly isPoll?: boolean; readonly failureOf?: FailureOf | undefined },
  ): Promise<T> {
    const facts = this.#facts(part);
    return started(call).then(
      (answer) => {
        this.#answered(part, begun);
        const took = this.#now - begun;
        if (part === 'reads' || part === 'writes') this.#took[this.#next++ % LATEST] = took;
        if (!isPoll) this.parts.onCall?.(part, took);
        return answer;
      },
      (thrown: unknown) => {
        const error = failureOf(thrown);
        this.#failed(facts, begun, error);
        if (!isPoll) this.parts.onCall?.(part, this.#now - begun, error);
        throw error;
      },
    );
  }

  #facts(part: StorePart): Changing<CallFacts> {
    const known = this.#calls.get(part);
    if (known) return known;
    const facts = { answeredAt: undefined, failing: undefined, waitingSince: undefined };
    this.#calls.set(part, facts);
    return facts;
  }

  #answered(part: StorePart, begun: number): void {
    const facts = this.#facts(part);
    const { answeredAt = -Infinity, failing, waitingSince = begun } = facts;
    settle(facts, Math.max(answeredAt, begun));
    if (part === 'reads' && (failing || begun - waitingSince >= OUTAGE)) this.#forgetFailures();
  }

  /** The store answers again. Other calls that failed during the outage count as failing only if they fail again. */
  #forgetFailures(): void {
    for (const part of ['records', 'nodes', 'runs', 'audit', 'tasks'] as const) {
      const facts = this.#facts(part);
      settle(facts, facts.answeredAt);
    }
  }

  #failed(facts: Changing<CallFacts>, begun: number, error: unknown): void {
    const { answeredAt, failing } = facts;
    // A late failure says nothing about a store that has answered a later call.
    if (answeredAt !== undefined && answeredAt > begun) return;
    const lastAt = this.#now;
    const cause = error instanceof Error ? error : new Error(messageOf(error));
    settle(facts, answeredAt);
    const isRepeated = failing !== undefined && (failing.isRepeated || begun >= failing.firstAt);
    const { since, firstAt } = failing ?? { since: begun, firstAt: lastAt };
    facts.failing = { since, firstAt, lastAt, error: cause, isRepeated };
  }
}

/** If the driver can't be opened, the call rejects. */
function started<T>(call: () => Promise<T>): Promise<T> {
  try {
    return call();
  } catch (error) {
    return Promise.reject(error);
  }
}

function partOf(prefix: string): StorePart {
  return prefix.startsWith(NODES_PREFIX) ? 'nodes' : 'records';
}

function partOfKeys([first = '']: readonly string[]): StorePart {
  if (first.startsWith(HISTORY_PREFIX)) return 'runs';
  return first.startsWith(NODES_PREFIX) ? 'nodes' : 'reads';
}

/** Mutable, because each call to the store changes it twice: a new object each time would be waste. */
type Changing<T> = { -readonly [Field in keyof T]: T[Field] | undefined };

function settle(facts: Changing<CallFacts>, answeredAt: number | undefined): void {
  facts.answeredAt = answeredAt;
  facts.failing = undefined;
  facts.waitingSince = undefined;
}
