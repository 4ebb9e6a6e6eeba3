import type { HintQueue } from '../../core/store/driver.js';
import { HintPolls, type PolledQueue } from '../../core/store/hint-polls.js';
import { portionsOf } from '../../core/store/text-batches.js';
import { type Calls, SHARED, textIn } from './calls.js';
import type { ChangeFeed } from './change-feed.js';
import type { RedisClient } from './clients/redis-client.js';
import type { Connection } from './connection.js';
import type { QueueKeys } from './keys.js';
import { LONGEST_POLL, OFFER_HINTS, PASS_ON, POLL_HINT, REMOVE_HINTS } from './scripts.js';

/** Largest number of hints per call. */
const MOST_AT_ONCE = 500;

/**
 * Hints in a list. A poller that finds none notes its client in a sorted set; who adds a hint takes one client out, and
 * wakes it with a message. So a hint wakes one client and not all, and no connection is blocked.
 */
export class RedisQueue implements HintQueue {
  constructor(
    private readonly name: string,
    private readonly keys: QueueKeys,
    private readonly calls: Calls,
    private readonly poller: Poller,
  ) {}

  async offer(hints: readonly string[]): Promise<void> {
    for (const some of portionsOf(hints, MOST_AT_ONCE)) {
      await this.calls.write(OFFER_HINTS, this.keys, [...this.poller.wakeArguments(this.name), ...some]);
    }
  }

  async poll(patience: number, signal: AbortSignal): Promise<string | undefined> {
    if (signal.aborted) return undefined;
    if (patience <= 0) return (await this.drain(1))[0];
    const polled = { name: this.name, drain: () => this.#look(), offer: this.offer.bind(this) };
    return this.poller.poll(polled, this.keys, patience, signal);
  }

  async drain(most: number): Promise<string[]> {
    if (most <= 0) return [];
    // A command that is repeated after a broken connection loses hints; they are only hints.
    const drained = await this.calls.read(this.#hints, ['lpop', this.#hints, String(most)]);
    return ((drained ?? []) as string[]).map(String);
  }

  async remove(hints: readonly string[]): Promise<void> {
    for (const some of portionsOf(hints, SHARED.writes)) await this.calls.write(REMOVE_HINTS, [this.#hints], some);
  }

  async peek(): Promise<string | undefined> {
    return textIn(await this.calls.read(this.#hints, ['lindex', this.#hints, '0']));
  }

  async size(): Promise<number> {
    return Number(await this.calls.read(this.#hints, ['llen', this.#hints]));
  }

  get #hints(): string {
    return this.keys[0];
  }

  /** Takes the first hint, or else notes this client among the pollers. */
  async #look(): Promise<string[]> {
    await this.poller.listen();
    const hint = textIn(await this.calls.write(POLL_HINT, this.keys, [this.poller.client]));
    return hint === undefined ? [] : [hint];
  }
}

/** This client among those that poll queues: the messages that wake its polls, and those that wake others. */
export class Poller {
  readonly #polls = new HintPolls(LONGEST_POLL);
  /** Keys of the queues that this client ever polled: a late message may concern them. */
  readonly #known = new Map<string, QueueKeys>();

  constructor(
    private readonly calls: Calls,
    private readonly feed: ChangeFeed,
    private readonly connection: Pick<Connection, 'connected'>,
  ) {}

  /** Name of this client among the pollers of a queue. */
  get client(): string {
    return this.feed.poller;
  }

  /** Arguments of the scripts that wake pollers. */
  wakeArguments(queue: string): readonly [message: string, channels: string, isCluster: string] {
    return [
      this.feed.wakeMessageOf(queue),
      this.feed.wakeChannels,
      this.connection.connected().client.isCluster ? '1' : '0',
    ];
  }

  /** Resolves when this client receives messages about hints. @throws StoreUnavailableError */
  async listen(): Promise<void> {
    this.connection.connected();
    await this.calls.reading(() => this.feed.listenForHints((queue) => this.#woken(queue)));
  }

  poll(queue: PolledQueue, keys: QueueKeys, patience: number, signal: AbortSignal): Promise<string | undefined> {
    this.#known.set(queue.name, keys);
    return this.#polls.poll(queue, patience, signal);
  }

  /** The session has ended: polls look again, and fail. */
  readonly lost = (): void => this.#polls.wakeAll();

  /** Takes this client out of the pollers: in a Cluster, a hint that wakes it would wake no other one. */
  async leave(client: RedisClient): Promise<void> {
    const pollers = [...this.#known.values()].map(([, key]) => key);
    // The others drop it soon in any case.
    await Promise.allSettled(pollers.map((key) => client.command(key, ['zrem', key, this.client])));
  }

  /** Wakes all polls of the queue: those that find no hint note themselves again. */
  #woken(queue: string): void {
    if (!this.#polls.wake(queue)) void this.#passOn(queue);
  }

  async #passOn(queue: string): Promise<void> {
    const keys = this.#known.get(queue);
    if (!keys) return;
    try {
      // Throws if the session has ended: the connection for messages may outlive it.
      await this.calls.write(PASS_ON, keys, this.wakeArguments(queue));
    } catch {} // only a hint: others look again soon
  }
}
