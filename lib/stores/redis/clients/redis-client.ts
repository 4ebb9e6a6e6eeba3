/** An argument of a command. Texts are sent as UTF-8. */
export type Arg = string | Buffer;

/** One server that accepts writes, whatever the keys are. */
export type Primary = Pick<RedisClient, 'command'>;

/**
 * A client as the store uses it, whichever package it is from. The clients differ in what they do to a command when a
 * connection breaks:
 *
 * | client             | sent, without an answer                                        | not sent yet           |
 * | ------------------ | -------------------------------------------------------------- | ---------------------- |
 * | ioredis            | sent again after the reconnection (autoResendUnfulfilledCommands), or it never settles | waits in the offline queue |
 * | ioredis, Cluster   | sent again, up to 16 times, also to another server             | waits                  |
 * | node-redis         | rejected                                                       | waits in the offline queue |
 *
 * So a command may be applied twice, or late, and the last answer says nothing about an earlier attempt. `losses` shows
 * whether there can have been one. A compare-and-set that is applied twice answers `false` the second time, for which
 * all callers are prepared.
 */
export interface RedisClient {
  /** Whether the store made it, and so may close it. */
  readonly isOwn: boolean;
  /** Whether a command would be sent at once. */
  readonly isReady: boolean;
  /** The reason why it is not ready, in words. */
  readonly problem: string;
  readonly isCluster: boolean;
  /** Prefix that the client itself puts before each key; '' if none. */
  readonly keyPrefix: string;
  /** Number of connections that broke so far. */
  readonly losses: number;

  /** @param key the first key, by which a client of a Cluster finds the server */
  command(key: string, args: readonly Arg[]): Promise<unknown>;
  /** The servers that accept writes, in a stable order. */
  primaries(): readonly Primary[];
  /** Makes a connection for messages, with the settings of this client. In a Cluster, it goes to any one primary. */
  newSubscriber(events: SubscriberEvents): Subscriber;
  /** Makes one more client of the same server, which repeats nothing by itself. The caller releases it. */
  newConnection(): RedisClient;
  /** @param listener called when the client lost its server, or all servers of its Cluster, or is ready again */
  onChange(listener: () => void): () => void;
  /** Removes the listeners, and closes the client if the store made it. Idempotent. */
  release(): void;
}

/** The parts of a {@link RedisClient} that do not depend on the package. */
export abstract class ClientAdapter {
  losses = 0;
  /** The reason why the client is not ready, if an error told it. */
  protected lastError: Error | undefined;
  readonly #listeners = new Set<() => void>();
  /** Each removes one listener from a client of the package, and itself. */
  readonly #ends = new Set<() => void>();

  abstract get isReady(): boolean;

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Call this when the client may be ready now, or not any more. */
  protected changed(): void {
    if (this.isReady) this.lastError = undefined;
    for (const listener of this.#listeners) listener();
  }

  /** @returns a function that removes the listener */
  protected listen(client: Emitter, event: string, listener: (argument: unknown) => void): () => void {
    client.on(event, listener);
    const end = () => {
      client.off(event, listener);
      this.#ends.delete(end);
    };
    this.#ends.add(end);
    return end;
  }

  /** Removes all listeners of {@link listen}. */
  protected stopListening(): void {
    for (const end of this.#ends) end();
  }
}

interface Emitter {
  on(event: string, listener: (...args: never[]) => void): unknown;
  off(event: string, listener: (...args: never[]) => void): unknown;
}

/**
 * Receives messages, on a connection of its own. It reconnects by itself to the same server, and subscribes again. In a
 * Cluster each server passes on the messages of all.
 */
export interface Subscriber {
  /**
   * @param isPrefix whether to subscribe to all channels that begin with `channel`. Default false
   * @throws if the server refuses
   */
  subscribe(channel: string, isPrefix?: boolean): Promise<void>;
  /** Arguments as for {@link subscribe}. */
  unsubscribe(channel: string, isPrefix?: boolean): Promise<void>;
  close(): void;
}

export interface SubscriberEvents {
  onMessage(channel: string, message: string): void;
  /** The connection was lost. */
  onLost(): void;
  /** The connection is there again: messages may have been missed. */
  onReconnected(): void;
}

/** The pattern of channels that begin with `prefix`. */
export function patternOf(prefix: string): string {
  return `${prefix.replace(/[\\*?[\]]/g, '\\$&')}*`;
}
