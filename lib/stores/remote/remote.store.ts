import { atMost } from '../../core/store/at-most.js';
import type {
  ClockReading,
  Journal,
  Notify,
  OpenOptions,
  RecordPage,
  RecordChange,
  RecordStore,
  StoreHealth,
} from '../../core/store/store.js';
import { StoreUnavailableError, NoQuorumError } from '../../core/store/store.errors.js';
import { Endpoints } from './endpoints.js';
import { type AnswerOf, type BodyOf, CALLS, type Call, PROTOCOL_VERSION } from './protocol.js';
import { RemoteRefusedError } from './failures.js';
import { type Access, HttpTransport } from './http-transport.js';
import { WatchStream } from './watch-stream.js';
import { messageOf } from '../../core/decision/index.js';
import { RECONNECT, pauseAfter } from '../../core/async/backoff.js';
import { systemClock } from '../../core/async/node-clock.js';
import { pause } from '../../core/async/pause.js';

const CALL_TIMEOUT = 2000;
/** Shorter than the caller's timeout, so that this store's own error comes first. */
const SHARE = 0.95;
/** Factor of the timeout: a listing may be one large answer, so its caller waits longer. */
const LIST_FACTOR = 5;

/** The records of another application's store. */
export class RemoteStore implements RecordStore {
  readonly #transport: HttpTransport;
  readonly #endpoints: Endpoints;
  readonly #remoteHealth = new RemoteHealth(() => this.#greet());
  readonly #watches = new Set<WatchStream>();
  readonly #timeout: number;
  readonly #greeted: Promise<unknown>;
  #isClosed = false;

  constructor(access: Access, { callTimeout = CALL_TIMEOUT }: OpenOptions = {}) {
    this.#timeout = callTimeout * SHARE;
    this.#transport = new HttpTransport(access);
    this.#endpoints = new Endpoints(this.#transport);
    this.#greeted = this.#greet().catch((error: unknown) => error);
  }

  async read(key: string): Promise<string | undefined> {
    return (await this.#call(CALLS.read, { key })).text;
  }

  async compareAndSet(
    key: string,
    expected: string | undefined,
    next: string,
    options?: { readonly notify?: Notify },
  ): Promise<boolean> {
    const { notify } = options ?? {};
    return (await this.#call(CALLS.compareAndSet, { key, expected, next, notify })).written;
  }

  async list(prefix: string): Promise<Map<string, string>> {
    return new Map((await this.#call(CALLS.list, { prefix }, LIST_FACTOR)).texts);
  }

  async page(prefix: string, after?: string): Promise<RecordPage> {
    const { texts, next } = await this.#call(CALLS.page, { prefix, after }, LIST_FACTOR);
    return { texts: new Map(texts), ...(next !== undefined && { next }) };
  }

  async readMany(keys: readonly string[]): Promise<Map<string, string>> {
    return new Map((await this.#call(CALLS.readMany, { keys: [...keys] })).texts);
  }

  /** Waits for the first attempt to subscribe, so that in normal operation no later change is missed. */
  async watch(prefix: string, onChange: (change: RecordChange) => void): Promise<() => Promise<void>> {
    if (this.#isClosed) throw closed();
    const to = { transport: this.#transport, endpoints: this.#endpoints };
    const heard = (health: StoreHealth) => this.#remoteHealth.heard(health);
    const stream = new WatchStream(prefix, to, { changed: onChange, heard });
    this.#watches.add(stream);
    if (this.health().connected) await atMost(this.#timeout, stream.attempted);
    stream.begin();
    return async () => {
      stream.end();
      this.#watches.delete(stream);
    };
  }

  /** Does nothing: the application that serves the store waits for all keys for its clients. */
  awaitChanges(): () => void {
    return () => undefined;
  }

  journal(journal: string): Journal {
    return {
      append: async (texts) => void (await this.#call(CALLS.append, { journal, texts: [...texts] })),
      read: async (limit) => (await this.#call(CALLS.readJournal, { journal, limit })).texts,
    };
  }

  async now(): Promise<ClockReading> {
    const { time, member } = await this.#call(CALLS.now, {});
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

  async #greet(): Promise<void> {
    const { protocol } = await this.#call(CALLS.health, {});
    if (protocol <= PROTOCOL_VERSION) return;
    const fault = `the other application speaks version ${protocol} of the protocol, this one ${PROTOCOL_VERSION}: upgrade`;
    const error = new RemoteRefusedError(fault);
    this.#remoteHealth.failed(error);
    throw error;
  }

  async #call<C extends Call>(call: C, body: BodyOf<C>, factor = 1): Promise<AnswerOf<C>> {
    if (this.#isClosed) throw closed();
    try {
      const answer = await this.#endpoints.call(call, body, this.#timeout * factor);
      this.#remoteHealth.heard((answer as { health: StoreHealth }).health);
      return answer;
    } catch (error) {
      this.#remoteHealth.failed(error);
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
