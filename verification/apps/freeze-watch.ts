import { once } from 'node:events';
import { type AddressInfo, type ListenOptions, type Server, createServer } from 'node:net';
import { sharedNow } from './say.js';

export interface FreezeWatchOptions {
  /** ms without a callback after which the process must have been frozen. */
  readonly frozen: number;
  /** The first callback in a while: the process, or its event loop, did nothing since (ms by the shared clock). */
  readonly onStalled?: (since: number) => void;
  /** The very first callback that runs after that. */
  readonly onWoken: (callback: 'io' | 'timer') => void;
  /** All timers that were due at `since` (ms by the shared clock) have run once, and no I/O since. */
  readonly onTimersOver: (since: number) => void;
}

/** ms between two looks. */
const INTERVAL = 50;
/** ms without a callback after which the event loop was blocked, or the machine had no time for the process. */
const STALLED = 3 * INTERVAL;

/**
 * Notices that the process goes on after it was frozen. Two callbacks wait for that: one of I/O, on a socket that a test
 * writes to meanwhile, and a timer. After SIGCONT either may come first.
 */
export class FreezeWatch {
  readonly #server: Server = createServer((socket) => socket.on('data', () => this.#look('io')).on('error', () => {}));
  #timer?: NodeJS.Timeout;
  #lastSeen = sharedNow();
  #isFirstTimer = false;

  constructor(private readonly options: FreezeWatchOptions) {}

  /** @returns the port, where it listens on one */
  async start(listen: ListenOptions): Promise<number | undefined> {
    this.#timer = setInterval(() => this.#look('timer'), INTERVAL);
    await once(this.#server.listen(listen), 'listening');
    return (this.#server.address() as AddressInfo).port;
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#server.close();
  }

  #look(callback: 'io' | 'timer'): void {
    const now = sharedNow();
    const since = this.#lastSeen;
    const wasFrozen = now - since > this.options.frozen;
    this.#lastSeen = now;
    if (now - since > STALLED) this.options.onStalled?.(since);
    if (wasFrozen) {
      this.#isFirstTimer = true;
      this.options.onWoken(callback);
    }
    if (callback === 'io' || !this.#isFirstTimer) return;
    this.#isFirstTimer = false;
    setImmediate(this.options.onTimersOver, now);
  }
}
