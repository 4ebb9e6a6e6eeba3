import type { NodeClock } from '../async/node-clock.js';
import { messageOf } from '../decision/index.js';
import { onePage, readMany } from './paging.js';
import { type CallObserver, observedTasks } from './observed-tasks.js';
import type { ClockReading, Journal, Notify, RecordPage, RecordChange, RecordStore, StoreHealth } from './store.js';
import { StoreUnavailableError, writeError } from './store.errors.js';
import type { TaskStorage } from './task-storage.js';

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

const asItIs: FailureOf = (error) => error;

/**
 * Opens a store with its first use, forwards every call, and records the outcomes by kind. Not earlier: an application that is
 * made and never started, as in a unit test, must have nothing to close. A caller may give up a call, and this class does not notice
 * that. Such a call counts as waiting until another call of its kind ends.
 *
 * A write ends with StoreUnavailableError or UnknownOutcomeError, whatever the store throws: see {@link writeError}.
 */
export class ObservedStore implements RecordStore {
  #opened: RecordStore | undefined;
  #tasks: TaskStorage | undefined;
  #isClosed = false;
  readonly #calls = new Map<StorePart, Changing<CallFacts>>();
  /** ms of the latest answered calls for single records, in a ring. */
  readonly #took: number[] = [];
  #next = 0;

  constructor(
    private readonly openInner: () => RecordStore,
    private readonly nodeClock: NodeClock,
    private readonly onCall?: OnCall,
  ) {}

  /** Opens the store, unless it is open. @throws StoreUnavailableError after {@link close} */
  open(): void {
    void this.#inner;
  }

  /** Opens the store, see {@link open}. */
  get tasks(): TaskStorage | undefined {
    const { tasks } = this.#inner;
    this.#tasks ??= tasks && observedTasks(tasks, this.#taskObserver());
    return this.#tasks;
  }

  /** The present facts. The object changes later, so read it at once. */
  calls(part: StorePart): CallFacts {
    return this.#facts(part);
  }

  /** Median in ms of the latest answered reads and writes of single records; undefined before the first. */
  get latency(): number | undefined {
    return this.#took.toSorted((one, other) => one - other)[Math.floor(this.#took.length / 2)];
  }

  read(key: string): Promise<string | undefined> {
    return this.#observed('reads', () => this.#inner.read(key));
  }

  compareAndSet(
    key: string,
    expected: string | undefined,
    next: string,
    options?: { readonly notify?: Notify },
  ): Promise<boolean> {
    return this.#observed('writes', () => this.#inner.compareAndSet(key, expected, next, options), writeError);
  }

  async list(prefix: string): Promise<Map<string, string>> {
    const begun = this.nodeClock.monotonic();
    const texts = await this.#observed(partOf(prefix), () => this.#inner.list(prefix));
    // A listing reads the records, so it also proves that single records can be read again.
    this.#answered('reads', begun);
    return texts;
  }

  async page(prefix: string, after?: string): Promise<RecordPage> {
    const begun = this.nodeClock.monotonic();
    const page = await this.#observed(partOf(prefix), () => onePage(this.#inner, prefix, after));
    this.#answered('reads', begun);
    return page;
  }

  /** Calls for keys of records count as `reads`, and for other keys as `nodes` or `runs`. */
  readMany(keys: readonly string[]): Promise<Map<string, string>> {
    return this.#observed(partOfKeys(keys), () => readMany(this.#inner, keys));
  }

  now(): Promise<ClockReading> {
    return this.#observed('clock', () => this.#inner.now());
  }

  async watch(prefix: string, onChange: (change: RecordChange) => void): Promise<() => Promise<void>> {
    return this.#inner.watch(prefix, onChange);
  }

  awaitChanges(key?: string): () => void {
    return this.#inner.awaitChanges(key);
  }

  /** Does not open the store: parts take their journals when they are made. */
  journal(name: string): Journal {
    let opened: Journal | undefined;
    const journal = () => (opened ??= this.#inner.journal(name));
    const part = name === 'runs' || name === 'audit' ? name : 'moves';
    return {
      append: async (texts) => {
        try {
          await journal().append(texts);
        } catch (error) {
          throw writeError(error);
        }
      },
      read: (limit) => this.#observed(part, () => journal().read(limit)),
    };
  }

  async verify(): Promise<void> {
    await this.#inner.verify?.();
  }

  /** Does not open the store. */
  health(): StoreHealth {
    if (this.#opened) return this.#opened.health();
    return { connected: false, members: 0, quorum: 0, problem: this.#isClosed ? CLOSED : NOT_OPENED };
  }

  /** Closes the store, if it is open. Calls fail from then on. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#opened?.close();
  }

  get #inner(): RecordStore {
    if (this.#opened) return this.#opened;
    if (this.#isClosed) throw new StoreUnavailableError(`${CLOSED}: its application has ended before it was used`);
    return (this.#opened = this.openInner());
  }

  #taskObserver(): CallObserver {
    return {
      observed: (call) => this.#observed('tasks', call),
      written: (call) => this.#observed('tasks', call, writeError),
      observedEnd: (call) => this.#observedEnd('tasks', call, this.nodeClock.monotonic(), { isPoll: true }),
    };
  }

  #observed<T>(part: StorePart, call: () => Promise<T>, failureOf?: FailureOf): Promise<T> {
    const begun = this.nodeClock.monotonic();
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
        const took = this.nodeClock.monotonic() - begun;
        if (part === 'reads' || part === 'writes') this.#took[this.#next++ % LATEST] = took;
        if (!isPoll) this.onCall?.(part, took);
        return answer;
      },
      (thrown: unknown) => {
        const error = failureOf(thrown);
        this.#failed(facts, begun, error);
        if (!isPoll) this.onCall?.(part, this.nodeClock.monotonic() - begun, error);
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
    const lastAt = this.nodeClock.monotonic();
    const cause = error instanceof Error ? error : new Error(messageOf(error));
    settle(facts, answeredAt);
    const isRepeated = failing !== undefined && (failing.isRepeated || begun >= failing.firstAt);
    const { since, firstAt } = failing ?? { since: begun, firstAt: lastAt };
    facts.failing = { since, firstAt, lastAt, error: cause, isRepeated };
  }
}

/** A store that can't be opened rejects the call. */
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
