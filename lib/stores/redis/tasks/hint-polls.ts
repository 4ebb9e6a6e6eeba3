import { type CancelTimer, systemClock } from '../../../core/async/node-clock.js';
import type { Calls } from '../calls.js';
import type { ChangeFeed } from '../change-feed.js';
import type { RedisClient } from '../clients/redis-client.js';
import type { Session } from '../connection.js';
import { LONGEST_POLL, PASS_ON } from '../scripts.js';

interface Poll {
  readonly keys: [string, string];
  wake(): void;
}

interface PollParts {
  readonly calls: Calls;
  readonly feed: ChangeFeed;
  /** @throws StoreUnavailableError if there is no session */
  readonly session: () => Session;
}

/** The polls of one client that wait for hints, by queue. */
export class HintPolls {
  readonly #polls = new Map<string, Set<Poll>>();
  /** Keys of the queues that this client ever polled: a late message may concern them. */
  readonly #known = new Map<string, [string, string]>();

  constructor(private readonly parts: PollParts) {}

  /** Name of this client among the pollers of a queue. */
  get client(): string {
    return this.parts.feed.poller;
  }

  /** Arguments of the scripts that wake pollers. */
  wakeArguments(queue: string): readonly string[] {
    return [
      this.parts.feed.wakeMessageOf(queue),
      this.parts.feed.wakeChannels,
      this.parts.session().client.isCluster ? '1' : '0',
    ];
  }

  /** Resolves when this client receives messages about hints. @throws StoreUnavailableError */
  async listen(): Promise<void> {
    this.parts.session();
    await this.parts.calls.reading(() => this.parts.feed.listenForHints((queue) => this.#woken(queue)));
  }

  /** Begins a wait. Call its `end` in any case. */
  begin(queue: string, keys: [string, string], signal: AbortSignal): PollWait {
    const session = this.parts.session();
    const polls = this.#polls.get(queue) ?? new Set();
    this.#polls.set(queue, polls);
    this.#known.set(queue, keys);
    const wait = new PollWait(keys, session.ended, signal, () => {
      polls.delete(wait);
      if (polls.size === 0 && this.#polls.get(queue) === polls) this.#polls.delete(queue);
    });
    polls.add(wait);
    return wait;
  }

  /** Takes this client out of the pollers: in a Cluster, a hint that wakes it would wake no other one. */
  async leave(client: RedisClient): Promise<void> {
    const pollers = [...this.#known.values()].map(([, key]) => key);
    // The others drop it soon in any case.
    await Promise.allSettled(pollers.map((key) => client.command(key, ['zrem', key, this.client])));
  }

  /** Wakes all polls of the queue: those that find no hint note themselves again. */
  #woken(queue: string): void {
    const polls = this.#polls.get(queue);
    if (polls) for (const poll of polls) poll.wake();
    else void this.#passOn(queue);
  }

  async #passOn(queue: string): Promise<void> {
    const keys = this.#known.get(queue);
    if (!keys) return;
    try {
      // Throws if the session has ended: the connection for messages may outlive it.
      await this.parts.calls.write(PASS_ON, keys, this.wakeArguments(queue));
    } catch {} // only a hint: others look again soon
  }
}

/** The wait of one poll for a message. */
export class PollWait implements Poll {
  #isWoken = false;
  #resolve: () => void = () => undefined;

  constructor(
    readonly keys: [string, string],
    private readonly ended: AbortSignal,
    private readonly signal: AbortSignal,
    /** Ends the wait. */
    readonly end: () => void,
  ) {}

  wake(): void {
    this.#isWoken = true;
    this.#resolve();
  }

  /** Waits for a message, or until the signal aborts. @throws if the session ends meanwhile */
  async waitFor(patience: number): Promise<void> {
    if (this.#isWoken || this.signal.aborted || patience <= 0) return;
    let cancel: CancelTimer | undefined;
    const end = () => this.#resolve();
    this.signal.addEventListener('abort', end);
    this.ended.addEventListener('abort', end);
    try {
      await new Promise<void>((resolve) => {
        this.#resolve = resolve;
        if (this.signal.aborted || this.ended.aborted) return resolve();
        cancel = systemClock.schedule(resolve, Math.min(Math.ceil(patience), LONGEST_POLL));
      });
    } finally {
      cancel?.();
      this.signal.removeEventListener('abort', end);
      this.ended.removeEventListener('abort', end);
    }
  }
}
