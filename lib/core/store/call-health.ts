import type { StoreHealth } from './store-health.js';
import { StoreUnavailableError } from './store.errors.js';

/** The problem of the last call, until a call is answered. */
export class LastProblem {
  /** Undefined: the last call was answered, or there was none. */
  text: string | undefined;

  /** Notes that a call was answered. @returns the answer */
  answered<T>(answer: T): T {
    this.text = undefined;
    return answer;
  }

  /** Notes that a call failed. @returns the error, to be thrown */
  failed<E extends Error>(error: E): E {
    this.text = error.message;
    return error;
  }
}

/**
 * Health of a driver that learns only from its calls whether the store can be reached: connected while the last call was
 * answered. A driver whose client reports its connections knows more, and sooner.
 */
export class CallHealth {
  readonly #problem = new LastProblem();
  #isConnected = false;
  #isClosed = false;

  /**
   * @param onConnected called when a call is answered for the first time, and for the first time after one failed: changes
   *   may have been missed until then
   */
  constructor(private readonly onConnected: () => void) {}

  /** @throws StoreUnavailableError after {@link close} */
  assertOpen(): void {
    if (this.#isClosed) throw new StoreUnavailableError('The store is closed: open another one with its definition');
  }

  /** Notes that a call was answered. @returns the answer */
  answered<T>(answer: T): T {
    this.#problem.answered(answer);
    if (!this.#isConnected && !this.#isClosed) {
      this.#isConnected = true;
      this.onConnected();
    }
    return answer;
  }

  /** Notes that a call failed because the store could not be reached. @returns the error, to be thrown */
  failed<E extends Error>(error: E): E {
    this.#isConnected = false;
    return this.#problem.failed(error);
  }

  /**
   * Notes that the store refused one call, or was late with it: it can be reached. Else each such error would make all watches
   * look at everything anew.
   *
   * @returns the error, to be thrown
   */
  refused<E extends Error>(error: E): E {
    return this.#problem.failed(error);
  }

  /** For `health()` of the driver. @param members number of clocks while it is connected */
  health(members = 1): StoreHealth {
    const { text } = this.#problem;
    if (this.#isConnected) return { connected: true, members, quorum: 0, ...(text !== undefined && { problem: text }) };
    const problem = this.#isClosed ? CLOSED : (this.#problem.text ?? CONNECTING);
    return { connected: false, members: 0, quorum: 0, problem };
  }

  /** Notes that the driver is closed. Idempotent. */
  close(): void {
    this.#isClosed = true;
    this.#isConnected = false;
  }
}

const CLOSED = 'the store is closed';
const CONNECTING = 'the first attempt to connect is under way';
