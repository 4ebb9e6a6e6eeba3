import { randomUUID } from 'node:crypto';
import { systemClock, type CancelTimer } from '../../core/async/node-clock.js';
import { pause } from '../../core/async/pause.js';
import { Wakeup } from '../../core/async/wakeup.js';
import { AwaitedKeys } from '../../core/store/awaited-keys.js';
import { ForeignMessages } from '../../core/store/foreign-messages.js';
import { MessageSeals, SEAL } from '../../core/store/message-seals.js';
import type { PrefixWatches } from '../../core/store/prefix-watches.js';
import type { Within } from './calls.js';
import type { RedisClient, Subscriber } from './clients/redis-client.js';
import { Channels } from './keys.js';

/** ms for which a subscription outlives its last wait: the next wait for the same key then costs nothing. */
const LINGER = 5000;

/** ms between two tests whether messages arrive. */
const HEARTBEAT = 10_000;
/** ms after a failed test, or a lost connection, until the next one. */
const SOON = 1000;

/** Tells a script how to announce a write. */
export interface Announcing {
  /** Id of this client: its own messages begin with it. */
  readonly writer: string;
  /** Channel of the changes that concern all clients. */
  readonly changes: string;
  /** Prefix of the channels of those that wait for a record. */
  readonly waiting: string;
  /** The seal of the message about a new text. */
  readonly sealOf: (key: string, text: string) => string;
}

/** Messages of a client: its name on its channels, and how it is told of them. */
interface FeedOptions {
  /** Name of this node, so that it gets no messages of its own writes; if absent, it gets them. */
  readonly writer?: string | undefined;
  /** Called when the connection is lost. */
  readonly onLost?: (() => void) | undefined;
  readonly onUnproven?: ((count: number) => void) | undefined;
}

/**
 * Messages about changes, and about hints in queues, on one connection. An edit goes to all clients, over one channel. A
 * release goes to the channel of its record, to which only those subscribe that wait for it: so clients that do not wait
 * cost nothing. A user of the server may have the right to PUBLISH and no other, so only messages with a seal are believed.
 */
export class ChangeFeed {
  readonly #id: string;
  /** Name of this client on the channel on which it learns of hints. */
  readonly poller = randomUUID();
  readonly #awaited = new AwaitedKeys();
  /** Subscriptions to single records, each with the timer that ends it, if no one waits any more. */
  readonly #subscribed = new Map<string | undefined, CancelTimer | undefined>();
  #channels: Channels | undefined;
  #subscriber: Subscriber | undefined;
  #wakeUps: ((queue: string) => void) | undefined;
  #isListeningForHints: Promise<void> | undefined;
  #isClosed = false;

  #echoed: (() => void) | undefined;

  readonly #seals = new MessageSeals();
  readonly #foreign: ForeignMessages;

  constructor(
    private readonly watches: PrefixWatches,
    private readonly options: FeedOptions = {},
  ) {
    this.#id = options.writer ?? randomUUID();
    this.#foreign = new ForeignMessages({
      refresh: () => this.#seals.refresh(),
      changed: (key) => watches.tell({ key, isUnproven: true }),
      offered: (queue) => this.#wakeUps?.(queue),
      counted: options.onUnproven,
    });
  }

  /** Reads the key of the seals, and creates it if there is none. Never rejects. */
  loadKey(client: RedisClient, key: string, within: Within): Promise<void> {
    return this.#seals.load({
      read: async () => (await within(() => client.command(key, ['get', key])))?.toString(),
      create: (text) => within(() => client.command(key, ['set', key, text, 'NX'])),
    });
  }

  /**
   * Subscribes, on a new connection: that of the last session may go to a server that is gone.
   *
   * @throws the client's error if the server refuses
   */
  async attach(client: RedisClient, channels: Channels): Promise<void> {
    if (this.#isClosed) throw new Error('the store is closed');
    this.detach();
    this.#channels = channels;
    const subscriber = client.newSubscriber({
      onMessage: (channel, message) => this.#heard(channel, message),
      onLost: () => this.options.onLost?.(),
      onReconnected: () => this.watches.tell({}),
    });
    this.#subscriber = subscriber;
    try {
      await Promise.all([subscriber.subscribe(channels.changes), subscriber.subscribe(channels.echo(this.poller))]);
    } catch (error) {
      if (this.#subscriber === subscriber) this.detach();
      throw error;
    }
    if (this.#subscriber === subscriber) for (const key of this.#awaited) this.#subscribe(key);
  }

  /**
   * Sends this client a message. If it does not arrive, the connection is replaced.
   *
   * @throws the client's error if the message could not be sent, or the connection not be replaced
   */
  async verify(client: RedisClient, within: Within): Promise<void> {
    const [subscriber, channels] = [this.#subscriber, this.#channels];
    if (!channels) return;
    if (subscriber) {
      const echoed = new Promise<true>((resolve) => (this.#echoed = () => resolve(true)));
      await within(() => client.command('', ['publish', channels.echo(this.poller), '']));
      // It fails if the deadline passes, which is the answer.
      const hasArrived = await within(() => echoed).catch(() => false);
      if (hasArrived || this.#subscriber !== subscriber) return; // a new session replaced it, or the store was closed
    }
    await within(() => this.attach(client, channels));
    this.watches.tell({});
  }

  /** Ends the connection. */
  detach(): void {
    this.#subscriber?.close();
    this.#subscriber = undefined;
    this.#isListeningForHints = undefined;
    for (const cancel of this.#subscribed.values()) cancel?.();
    this.#subscribed.clear();
  }

  /** Ends the connection for good: a session may be just opening, and must not leave one behind. */
  close(): void {
    this.#isClosed = true;
    this.#foreign.close();
    this.detach();
  }

  /** Announces that this client waits for `key` (undefined: for all keys). Call the returned function to end the wait. */
  awaitChanges(key: string | undefined): () => void {
    const end = this.#awaited.add(key);
    this.#subscribe(key);
    return () => {
      end();
      this.#linger(key);
    };
  }

  /** Undefined: there is no connection for messages yet. */
  get announcing(): Announcing | undefined {
    const channels = this.#channels;
    if (!channels) return undefined;
    const { changes, waiting } = channels;
    const sealOf = (key: string, text: string) =>
      this.#seals.sealOf(changes, `${this.#id} ${key.length} ${key}${text}`);
    return { writer: this.#id, changes, waiting, sealOf };
  }

  /** Calls `wake` with the name of each queue for which this client is woken. */
  async listenForHints(wake: (queue: string) => void): Promise<void> {
    this.#wakeUps = wake;
    const [subscriber, channels] = [this.#subscriber, this.#channels];
    if (!subscriber || !channels) throw new Error('there is no connection for messages');
    const listening = (this.#isListeningForHints ??= subscriber.subscribe(channels.wake + this.poller));
    try {
      await listening;
    } catch (error) {
      if (this.#isListeningForHints === listening) this.#isListeningForHints = undefined; // the next poll tries again
      throw error;
    }
  }

  /** The message that wakes a poller of a queue. */
  wakeMessageOf(queue: string): string {
    return this.#seals.sealOf(this.wakeChannels, queue) + queue;
  }

  /** Prefix of the channels on which clients learn of hints. */
  get wakeChannels(): string {
    return this.#channels?.wake ?? '';
  }

  #heard(channel: string, message: string): void {
    if (channel === this.#channels?.echo(this.poller)) return this.#echoed?.();
    const [seal, body] = [message.slice(0, SEAL), message.slice(SEAL)];
    if (channel === this.wakeChannels + this.poller) return this.#heardOfHint(seal, body);
    const { from, ...change } = changeIn(body);
    if (this.options.writer !== undefined && from === this.#id) return;
    const verdict = this.#channels ? this.#seals.judge(seal, this.#channels.changes, body) : 'unproven';
    if (verdict === 'proven') this.watches.tell(change);
    if (verdict === 'unproven') this.#foreign.note({ key: change.key });
  }

  #heardOfHint(seal: string, queue: string): void {
    const verdict = this.#seals.judge(seal, this.wakeChannels, queue);
    if (verdict === 'proven') this.#wakeUps?.(queue);
    if (verdict === 'unproven') this.#foreign.note({ queue });
  }

  #subscribe(key: string | undefined): void {
    this.#subscribed.get(key)?.();
    const isNew = !this.#subscribed.has(key);
    if (!this.#subscriber || !this.#channels) return;
    this.#subscribed.set(key, undefined);
    if (!isNew) return;
    const [subscriber, channels] = [this.#subscriber, this.#channels];
    // Only hints: those that wait also look from time to time.
    subscriber
      .subscribe(...channels.waitingFor(key))
      .catch(() => this.#subscriber === subscriber && this.#subscribed.delete(key));
  }

  #linger(key: string | undefined): void {
    if (this.#awaited.isAwaited(key) || !this.#subscribed.has(key)) return;
    this.#subscribed.get(key)?.();
    this.#subscribed.set(
      key,
      systemClock.schedule(() => this.#unsubscribe(key), LINGER),
    );
  }

  #unsubscribe(key: string | undefined): void {
    this.#subscribed.delete(key);
    if (!this.#subscriber || !this.#channels) return;
    this.#subscriber.unsubscribe(...this.#channels.waitingFor(key)).catch(() => undefined); // further messages do no harm
  }
}

/**
 * Tests from time to time whether messages arrive: a dead network may end a connection without a sign, and a server of a
 * Cluster may be gone for good.
 */
export class MessageHeartbeat {
  readonly #lost = new Wakeup(systemClock);
  readonly #stopping = new AbortController();

  /** @param test rejects if it could not make sure of messages */
  constructor(test: () => Promise<void>) {
    void this.#keepTesting(test);
  }

  /** Tests soon, because the connection was lost. It may be lost again and again, also during a test. */
  readonly hurry = this.#lost.ring;

  stop(): void {
    this.#stopping.abort();
    this.#lost.ring();
  }

  async #keepTesting(test: () => Promise<void>): Promise<void> {
    const { signal } = this.#stopping;
    for (let arrive = true; ;) {
      if (arrive) await this.#lost.wait(HEARTBEAT - SOON, false);
      await pause(systemClock, SOON, { signal, isAwaited: false });
      if (signal.aborted) return;
      this.#lost.reset(); // before the test, so that a loss during it has another one follow soon
      arrive = await test().then(
        () => true,
        () => false, // the session reports why calls fail
      );
    }
  }
}

/** The parts of a message about a change, which `scripts.ts` describes. Those of a foreign one mean nothing. */
function changeIn(body: string): { readonly from: string; readonly key: string; readonly text: string } {
  const idEnd = body.indexOf(' ');
  const lengthEnd = body.indexOf(' ', idEnd + 1);
  const keyEnd = lengthEnd + 1 + Number(body.slice(idEnd + 1, lengthEnd));
  return { from: body.slice(0, idEnd), key: body.slice(lengthEnd + 1, keyEnd), text: body.slice(keyEnd) };
}
