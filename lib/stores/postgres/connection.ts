import { RECONNECT, pauseAfter } from '../../core/async/backoff.js';
import { systemClock } from '../../core/async/node-clock.js';
import { pause } from '../../core/async/pause.js';
import { Wakeup } from '../../core/async/wakeup.js';
import { atMost } from '../../core/store/at-most.js';
import { FirstAttempt } from '../../core/store/first-attempt.js';
import { messageOf } from '../../core/decision/index.js';
import { StoreUnavailableError } from '../../core/store/store.errors.js';
import { PostgresUnusableError, wasStarting } from './failures.js';
import type { Server } from './server.js';

/** ms. A server that hangs must not delay the application's shutdown. */
const LONGEST_CLOSE = 3000;

interface Reactions {
  /** The server can serve, for the first time or again. */
  readonly opened: () => void;
  /** The server can't serve any longer. */
  readonly lost: () => void;
}

/**
 * Knows whether the server can serve. Examines it in the background: at the start, until it can; later whenever a call
 * failed in a way that makes it suspicious. In between, calls use the connections of the server's pool by themselves.
 */
export class Connection {
  /** The reason why the server can't serve. */
  problem: string | undefined = 'the first attempt to connect is under way';
  /** Ends with the first examination. */
  readonly firstAttempt = new FirstAttempt();

  #isOpen = false;
  #failure: unknown;
  #failures = 0;
  /** Whether a call was answered since the examination that is under way began. */
  #wasAnswered = false;
  readonly #suspicion = new Wakeup(systemClock);
  readonly #closing = new AbortController();
  readonly #ended: Promise<void>;

  /**
   * @param where the server in words
   * @param examine creates what is missing; throws if the server can't serve
   */
  constructor(
    private readonly server: Server,
    private readonly where: string,
    private readonly examine: () => Promise<void>,
    private readonly on: Reactions,
  ) {
    this.#ended = this.#keepOpen();
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Aborts when the store is closed. */
  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  /** The reason why this database can never serve with these options, if there is one. */
  get unusable(): PostgresUnusableError | undefined {
    return this.#failure instanceof PostgresUnusableError ? this.#failure : undefined;
  }

  /** @throws StoreUnavailableError if the server can't serve now */
  assertOpen(): void {
    if (this.#closing.signal.aborted) throw closedError();
    if (this.#isOpen) return;
    throw this.unusable ?? new StoreUnavailableError(`Not connected to ${this.where}: ${this.problem}`);
  }

  /** Has the server examined soon. */
  readonly suspect = (): void => this.#suspicion.ring();

  /** Notes that the server answered a call. */
  readonly answered = (): void => void (this.#wasAnswered = true);

  /** Closes the connections. Resolves at the latest after {@link LONGEST_CLOSE} ms; the rest then closes later. */
  async close(): Promise<void> {
    this.#closing.abort(closedError());
    this.#isOpen = false;
    this.firstAttempt.end();
    this.#suspicion.ring();
    await atMost(LONGEST_CLOSE, this.#ended);
    await atMost(LONGEST_CLOSE, this.server.close());
  }

  async #keepOpen(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      this.#suspicion.reset();
      await this.#examineOnce();
      // Calls that fail one after another examine the server at most ten times a second.
      await pause(systemClock, pauseAfter(this.#failures, Math.random(), RECONNECT), { signal, isAwaited: false });
      if (this.#isOpen) await this.#suspicion.wait(undefined, false);
    }
  }

  async #examineOnce(): Promise<void> {
    this.#wasAnswered = false;
    try {
      await this.examine();
      if (this.#closing.signal.aborted) return;
      this.problem = this.#failure = undefined;
      this.#failures = 0;
      if (!this.#isOpen) this.#open();
    } catch (error) {
      this.#failures++;
      // The refusal of a server that was starting may come after its first answers.
      if (this.#isOpen && this.#wasAnswered && wasStarting(error)) return this.suspect();
      this.problem = messageOf(error);
      this.#failure = error;
      if (this.#isOpen) this.#lose();
    }
    this.firstAttempt.end();
  }

  #open(): void {
    this.#isOpen = true;
    this.on.opened();
  }

  #lose(): void {
    this.#isOpen = false;
    this.on.lost();
  }
}

function closedError(): StoreUnavailableError {
  return new StoreUnavailableError('The PostgreSQL store is closed: open another one with its definition');
}
