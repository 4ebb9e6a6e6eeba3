import { signal } from '@preact/signals';
import { ApiError } from '../api/api-error.js';
import { type Path, request } from '../api/call.js';
import type { StreamedEvent } from '../api/event-stream.js';
import { setClusterTime } from './cluster-time.js';
import { connection, isUnreachable, subscribe } from './connection.js';

/**
 * Interval in ms of queries that show holders: the stream does not report grants of other nodes. After an answer events wait
 * as long, because records of a busy cluster change all the time. The first change after a quiet time shows after a second.
 */
export const OFTEN = 5000;
/** Interval in ms of queries whose changes the stream reports. */
export const SELDOM = 10_000;
/** Interval in ms of queries for what surrounds a page, such as the names in a filter. */
export const RARELY = 30_000;
/** Longest interval in ms while the stream is cut, and interval after a failure. */
const WHILE_CUT = 5000;
/**
 * ms from the first change to the request: one request is enough for a burst of changes, and an answer that is a second old
 * has the change of a record.
 */
const SHORTEST_PAUSE = 1000;
/**
 * The pause after a request is this many times as long as the request, so requests take at most a fifth of the time. But a single
 * slow answer, as of a node that stood still, does not stop the news for longer than {@link LONGEST_PAUSE}.
 */
const PAUSE_FACTOR = 4;
/** ms */
const LONGEST_PAUSE = 30_000;
/** Limit of the load: large answers are loaded less often. */
const BYTES_PER_MS = 250;

/** How a query follows an answer of which only the changes are loaded. */
export interface Changes<Answer, Shown> {
  /** The path of the next request. */
  pathAfter(shown: Shown | undefined): Path<Answer>;
  /** The data that are shown after an answer. */
  merged(shown: Shown | undefined, answer: Answer): Shown;
}

export interface LiveOptions<Answer = unknown, Shown = Answer> {
  /** Default: each answer is whole and shown as it is. */
  readonly changes?: Changes<Answer, Shown>;
  /** Status that carries an answer, too. */
  readonly otherStatus?: number;
  /** Code of the problem of what need not be there. It is not asked for again before the stream reports a change. */
  readonly absent?: string;
  /** ms after which a request counts as failed: the node may be frozen. Default: none, because a list may be long. */
  readonly timeout?: number;
}

/** Keeps an answer of the API up to date: loads it again whenever it may have changed. */
export class LiveQuery<Shown> {
  readonly data = signal<Shown | undefined>(undefined);
  readonly error = signal<Error | undefined>(undefined);
  #timer?: ReturnType<typeof setTimeout>;
  #dueAt = Infinity;
  #notBefore = 0;
  #isLoading = false;
  /** Whether another request must follow the one under way; before a request, whether it was postponed for a change. */
  #isStale = false;
  /** When a change was last reported: monotonic ms. */
  #changedAt = -Infinity;
  #turn = 0;
  #stop = new AbortController();

  constructor(
    readonly path: string,
    private readonly concerns: (event: StreamedEvent) => boolean,
    private readonly interval: number,
    private readonly options: LiveOptions<unknown, Shown> = {},
  ) {}

  /** Starts the loading. @returns a function that stops it. It can be started again */
  start(): () => void {
    this.#stop = new AbortController();
    const unsubscribe = subscribe((event) => {
      if (event.event === 'connected' || event.event === 'cut' || this.concerns(event)) this.soon();
    });
    const onVisible = () => !document.hidden && this.soon();
    document.addEventListener('visibilitychange', onVisible);
    void this.load();
    return () => {
      unsubscribe();
      document.removeEventListener('visibilitychange', onVisible);
      clearTimeout(this.#timer);
      this.#stop.abort();
    };
  }

  /** Loads again soon. */
  soon(): void {
    this.#changedAt = performance.now();
    if (this.#isLoading) this.#isStale = true;
    else this.#plan(SHORTEST_PAUSE);
  }

  /**
   * Loads now, and resolves after the answer. If two requests are under way, only the later one counts.
   *
   * @param takesRecent whether the answer may be a second old. Default false: it has what the user has just done
   */
  async load(takesRecent = false): Promise<void> {
    if (this.#stop.signal.aborted) return;
    const turn = ++this.#turn;
    clearTimeout(this.#timer);
    this.#dueAt = Infinity;
    this.#isLoading = true;
    const begun = performance.now();
    // An answer that is a second old may lack the changes of that second.
    this.#isStale = takesRecent && begun - this.#changedAt < SHORTEST_PAUSE;
    const bytes = await this.#ask(takesRecent, () => turn === this.#turn);
    if (turn !== this.#turn) return;
    this.#isLoading = false;
    const took = performance.now() - begun;
    // A failure loads nothing. Its long wait must not delay the news that a node answers again.
    const rest = this.error.value
      ? 0
      : Math.max(Math.min(OFTEN, this.interval), Math.min(PAUSE_FACTOR * took, LONGEST_PAUSE), bytes / BYTES_PER_MS);
    this.#notBefore = performance.now() + rest;
    if (this.#isStale) this.soon();
    else if (!this.#isAbsent) this.#plan(this.#pause());
  }

  get #isAbsent(): boolean {
    const error = this.error.value;
    const { absent } = this.options;
    // A failure without an answer has no code.
    if (absent === undefined || !(error instanceof ApiError)) return false;
    return error.problem.code === absent && connection.value === 'live';
  }

  #pause(): number {
    if (this.error.value) return WHILE_CUT;
    return connection.value === 'live' ? this.interval : Math.min(this.interval, WHILE_CUT);
  }

  /** @returns the approximate number of loaded bytes */
  async #ask(takesRecent: boolean, isWanted: () => boolean): Promise<number> {
    const { signal } = this.#stop;
    const { timeout } = this.options;
    const deadline = timeout === undefined ? undefined : AbortSignal.timeout(timeout);
    try {
      const { changes, otherStatus } = this.options;
      const path = changes?.pathAfter(this.data.peek()) ?? this.path;
      const limits = { signal: deadline ? AbortSignal.any([signal, deadline]) : signal };
      const response = await request(path, { takesRecent, otherStatus, ...limits });
      const text = await response.text();
      if (signal.aborted || !isWanted()) return 0;
      this.#show(text);
      this.error.value = undefined;
      isUnreachable.value = false;
      return text.length;
    } catch (failure) {
      if (signal.aborted || !isWanted()) return 0;
      const error = deadline?.aborted ? silence() : failure;
      this.error.value = error as Error;
      isUnreachable.value = error instanceof ApiError && error.isOutage;
      return 0;
    }
  }

  #show(text: string): void {
    const answer = JSON.parse(text) as Shown & { readonly now?: unknown };
    if (typeof answer.now === 'number') setClusterTime(answer.now);
    const { changes } = this.options;
    this.data.value = changes ? changes.merged(this.data.peek(), answer) : answer;
  }

  /** Plans the next request, unless an earlier one is planned. */
  #plan(wish: number): void {
    const delay = Math.max(wish, this.#notBefore - performance.now());
    const dueAt = performance.now() + delay;
    if (this.#stop.signal.aborted || dueAt >= this.#dueAt) return;
    clearTimeout(this.#timer);
    this.#dueAt = dueAt;
    this.#timer = setTimeout(() => this.#due(), delay);
  }

  #due(): void {
    this.#dueAt = Infinity;
    // The overview that an answer of now may share has not every change of the last second.
    const rest = this.#changedAt + SHORTEST_PAUSE - performance.now();
    if (rest > 0 && !this.#isStale) {
      this.#isStale = true;
      return this.#plan(rest);
    }
    // A hidden page loads nothing. It loads when it is visible again.
    if (!document.hidden) void this.load(true);
  }
}

/** The node is frozen, or the network drops packets. */
function silence(): ApiError {
  return new ApiError(0, { title: 'The node gives no answer.' });
}
