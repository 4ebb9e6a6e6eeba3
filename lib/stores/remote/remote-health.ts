import { messageOf } from '../../core/decision/index.js';
import { RECONNECT, pauseAfter } from '../../core/async/backoff.js';
import { systemClock } from '../../core/async/node-clock.js';
import { pause } from '../../core/async/pause.js';
import type { StoreHealth } from '../../core/store/store.js';
import { NoQuorumError } from '../../core/store/store.errors.js';
import { RemoteRefusedError } from './failures.js';

/**
 * Health of the store by its last answer. While calls fail, this class repeatedly asks whether the store answers again.
 */
export class RemoteHealth {
  #health: StoreHealth = { connected: false, members: 0, quorum: 0, problem: 'no answer yet' };
  readonly #closing = new AbortController();
  #isAsking = false;

  /** @param ask makes a call that reports its outcome to this object, like any other call */
  constructor(private readonly ask: () => Promise<unknown>) {}

  get health(): StoreHealth {
    return this.#health;
  }

  /** Takes over the health of an answer. */
  heard(health: StoreHealth): void {
    if (this.#closing.signal.aborted) return;
    this.#health = health;
    if (!health.connected) this.#insist();
  }

  failed(error: unknown): void {
    const problem = messageOf(error);
    // The other application answered, and the store behind it is reachable.
    const isOfOneCall = error instanceof RemoteRefusedError && error.isOfOneCall;
    if (error instanceof NoQuorumError || (isOfOneCall && this.#health.connected))
      this.#health = { ...this.#health, problem };
    else this.#down(problem);
  }

  close(): void {
    this.#health = { connected: false, members: 0, quorum: this.#health.quorum, problem: 'the store is closed' };
    this.#closing.abort();
  }

  #down(problem: string): void {
    if (this.#closing.signal.aborted) return;
    this.#health = { ...this.#health, connected: false, members: 0, problem };
    this.#insist();
  }

  #insist(): void {
    if (!this.#isAsking) void this.#askUntilConnected();
  }

  async #askUntilConnected(): Promise<void> {
    const { signal } = this.#closing;
    this.#isAsking = true;
    for (let failures = 0; !this.#health.connected && !signal.aborted; failures++) {
      await pause(systemClock, pauseAfter(failures, Math.random(), RECONNECT), { signal, isAwaited: false });
      if (!signal.aborted) await this.ask().catch(() => undefined);
    }
    this.#isAsking = false;
  }
}
