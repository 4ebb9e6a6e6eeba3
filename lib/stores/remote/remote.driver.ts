import { RECONNECT, pauseAfter } from '../../core/async/backoff.js';
import { systemClock } from '../../core/async/node-clock.js';
import { pause } from '../../core/async/pause.js';
import { messageOf } from '../../core/decision/index.js';
import { ownHintOf } from '../../core/store/gathered-writes.js';
import { LIST_FACTOR } from '../../core/store/store.js';
import { batchesOf } from '../../core/store/text-batches.js';
import type { StoreHealth } from '../../core/store/store-health.js';
import {
  type ClockReading,
  type Driver,
  type HintQueue,
  type Journal,
  MOST_KEYS,
  type OpenOptions,
  type OrderedCollection,
  type RecordChange,
  type RecordCollection,
  type TextCollection,
} from '../../core/store/driver.js';
import { NoQuorumError, StoreUnavailableError } from '../../core/store/store.errors.js';
import { type Asking, Endpoints } from './endpoints.js';
import { RemoteRefusedError } from './failures.js';
import { type Access, HttpTransport } from './http-transport.js';
import {
  type AnswerOf,
  type BodyOf,
  CALLS,
  type Call,
  LARGEST_BODY,
  LONGEST_POLL,
  PROTOCOL_VERSION,
} from './protocol.js';
import { WatchStream } from './watch-stream.js';

const CALL_TIMEOUT = 2000;
/** Shorter than the caller's timeout, so that this store's own error comes first. */
const SHARE = 0.95;
/** The hints of one request: JSON in UTF-8 has at most six bytes for each character. */
const TOGETHER = { characters: LARGEST_BODY / 6, most: MOST_KEYS };

/**
 * Another application's store: sends each call to a node that can reach it. Has no `within`: no transaction reaches through
 * HTTP. Has no `awaitChanges`: the application that serves the store waits for all keys for its clients.
 */
export class RemoteDriver implements Driver {
  readonly #transport: HttpTransport;
  readonly #endpoints: Endpoints;
  readonly #remoteHealth = new RemoteHealth(() => this.#greet());
  readonly #watches = new Set<WatchStream>();
  readonly #timeout: number;
  readonly #greeted: Promise<unknown>;
  #isClosed = false;

  readonly records: RecordCollection = {
    ...this.#texts('records'),
    page: async (prefix, after) => {
      const { texts, next } = await this.#ask(CALLS.page, { prefix, after }, { timeout: LIST_FACTOR * this.#timeout });
      return { texts: new Map(texts), ...(next !== undefined && { next }) };
    },
  };

  readonly tasks: OrderedCollection = {
    ...this.#texts('tasks'),
    range: async (from, to, limit) => {
      const { texts } = await this.#ask(CALLS.range, { from, to, limit });
      return texts.map(([key, text]) => ({ key, text }));
    },
  };

  readonly groups: TextCollection = this.#texts('groups');

  constructor(access: Access, { callTimeout = CALL_TIMEOUT }: OpenOptions = {}) {
    this.#timeout = callTimeout * SHARE;
    this.#transport = new HttpTransport(access);
    this.#endpoints = new Endpoints(this.#transport);
    this.#greeted = this.#greet().catch((error: unknown) => error);
  }

  /** Many hints are sent in several requests. If one of them fails, those before it were done: hints may come twice. */
  queue(queue: string): HintQueue {
    return {
      offer: async (hints) => {
        for (const some of batchesOf(hints, TOGETHER)) await this.#ask(CALLS.offer, { queue, hints: some });
      },
      poll: (patience, signal) => this.#poll(queue, patience, signal),
      drain: async (most) => {
        const wanted = Math.min(Math.max(most, 0), MOST_KEYS);
        return (await this.#ask(CALLS.drain, { queue, most: wanted })).hints;
      },
      remove: async (hints) => {
        for (const some of batchesOf(hints, TOGETHER)) await this.#ask(CALLS.remove, { queue, hints: some });
      },
      peek: async () => (await this.#ask(CALLS.peek, { queue })).hint,
      size: async () => (await this.#ask(CALLS.size, { queue })).size,
    };
  }

  journal(journal: string): Journal {
    return {
      append: async (texts) => void (await this.#ask(CALLS.append, { journal, texts: [...texts] })),
      read: async (limit) => (await this.#ask(CALLS.readJournal, { journal, limit })).texts,
    };
  }

  /** Waits for the first attempt to subscribe, so that in normal operation no later change is missed. */
  async watch(prefix: string, onChange: (change: RecordChange) => void): Promise<() => Promise<void>> {
    if (this.#isClosed) throw closed();
    const to = { transport: this.#transport, endpoints: this.#endpoints };
    const heard = (health: StoreHealth) => this.#remoteHealth.heard(health);
    const stream = new WatchStream(prefix, to, { changed: onChange, heard });
    this.#watches.add(stream);
    if (this.health().connected) await stream.firstAttempt.wait(this.#timeout);
    stream.begin();
    return async () => {
      stream.end();
      this.#watches.delete(stream);
    };
  }

  async now(): Promise<ClockReading> {
    const { time, member } = await this.#ask(CALLS.now, {});
    return { time, member };
  }

  async verify(): Promise<void> {
    const failure = await this.#greeted;
    if (failure instanceof RemoteRefusedError) throw failure;
  }

  health(): StoreHealth {
    return this.#remoteHealth.health;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const stream of this.#watches) stream.end();
    this.#watches.clear();
    this.#remoteHealth.close();
    this.#transport.close();
  }

  #texts(collection: BodyOf<typeof CALLS.read>['collection']): TextCollection {
    const readMany = async (keys: readonly string[]) =>
      new Map((await this.#ask(CALLS.read, { collection, keys: [...keys] })).texts);
    return {
      read: async (key) => (await readMany([key])).get(key),
      readMany,
      compareAndSet: async (key, expected, next, { notify, hint } = {}) => {
        const sent = hint && { queue: hint.queue, hint: ownHintOf({ key, next, hint }) };
        return (await this.#ask(CALLS.compareAndSet, { collection, key, expected, next, notify, hint: sent })).written;
      },
    };
  }

  /** The other side bounds the wait of one request, so this side asks again until its own patience is over. */
  async #poll(queue: string, patience: number, signal: AbortSignal): Promise<string | undefined> {
    const end = performance.now() + patience;
    for (let left = patience; !signal.aborted; left = end - performance.now()) {
      const wait = Math.min(Math.max(left, 0), LONGEST_POLL);
      try {
        const { hint } = await this.#ask(CALLS.poll, { queue, patience: wait }, { wait, signal });
        if (hint !== undefined || left <= LONGEST_POLL) return hint;
      } catch (error) {
        if (!signal.aborted) throw error;
      }
    }
    return undefined;
  }

  async #greet(): Promise<void> {
    const { protocol } = await this.#ask(CALLS.health, {});
    if (protocol <= PROTOCOL_VERSION) return;
    const fault = `the other application speaks version ${protocol} of the protocol, this one ${PROTOCOL_VERSION}: upgrade`;
    const error = new RemoteRefusedError(fault);
    this.#remoteHealth.failed(error);
    throw error;
  }

  async #ask<C extends Call>(call: C, body: BodyOf<C>, asking: Partial<Asking> = {}): Promise<AnswerOf<C>> {
    if (this.#isClosed) throw closed();
    try {
      const answer = await this.#endpoints.call(call, body, { timeout: this.#timeout, ...asking });
      this.#remoteHealth.heard((answer as { health: StoreHealth }).health);
      return answer;
    } catch (error) {
      // A call that its caller has ended says nothing about the store.
      if (!asking.signal?.aborted) this.#remoteHealth.failed(error);
      throw error;
    }
  }
}

function closed(): StoreUnavailableError {
  return new StoreUnavailableError('The remote store is closed: open another one');
}

/**
 * Health of the store by its last answer. While calls fail, this class repeatedly asks whether the store answers again.
 */
class RemoteHealth {
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
      // The health has noted the failure, and the loop asks again.
      if (!signal.aborted) await this.ask().catch(() => undefined);
    }
    this.#isAsking = false;
  }
}
