import { type CancelTimer, systemClock } from '../../core/async/node-clock.js';

/** ms between two tests whether messages arrive. */
const HEARTBEAT = 10_000;
/** ms after a failed test, or a lost connection, until the next one. */
const SOON = 1000;

/**
 * Tests from time to time whether messages arrive: a dead network may end a connection without a sign, and a server of a
 * Cluster may be gone for good.
 */
export class MessageHeartbeat {
  #cancel: CancelTimer | undefined;
  #isSoon = false;
  #isTesting = false;
  #isStopped = false;

  /** @param test rejects if it could not make sure of messages */
  constructor(private readonly test: () => Promise<void>) {
    this.#plan(HEARTBEAT);
  }

  /** Tests soon, because the connection was lost. */
  readonly hurry = (): void => {
    // The connection may be lost again and again. A test that is under way plans the next one at its end.
    if (!this.#isSoon && !this.#isTesting) this.#plan(SOON);
    this.#isSoon = true;
  };

  stop(): void {
    this.#isStopped = true;
    this.#cancel?.();
  }

  #plan(delay: number): void {
    this.#cancel?.();
    if (!this.#isStopped) this.#cancel = systemClock.schedule(() => void this.#beat(), delay);
  }

  async #beat(): Promise<void> {
    this.#isSoon = false;
    this.#isTesting = true;
    const pause = await this.test().then(
      () => HEARTBEAT,
      () => SOON, // the session reports why calls fail
    );
    this.#isTesting = false;
    this.#plan(this.#isSoon ? SOON : pause);
  }
}
