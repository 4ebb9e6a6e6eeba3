import { RECONNECT, pauseAfter } from '../../../core/async/backoff.js';
import type { Deadline } from '../../../core/async/deadline.js';
import { systemClock } from '../../../core/async/node-clock.js';
import { pause } from '../../../core/async/pause.js';
import { Wakeup } from '../../../core/async/wakeup.js';
import { FirstAttempt } from '../../../core/store/first-attempt.js';
import type { Calls } from '../calls.js';
import type { PgConnection } from '../pg.js';
import { named } from '../server.js';

/** ms between two tests whether notifications arrive. */
const HEARTBEAT = 10_000;
/** Largest payload of a notification, in bytes: PostgreSQL needs it to be shorter than 8,000. */
export const LARGEST_PAYLOAD = 7999;
/** Largest number of notifications in one statement. */
const MOST_AT_ONCE = 500;
/** Largest number of notifications that wait for the one under way. */
const MOST_WAITING = 10_000;

const NOTIFY = named(`SELECT pg_catalog.pg_notify(channel, payload)
    FROM ROWS FROM (pg_catalog.unnest($1::pg_catalog.text[]), pg_catalog.unnest($2::pg_catalog.text[])) AS each(channel, payload)`);

/**
 * Sends notifications, in their order. One statement at a time sends all that came meanwhile: PostgreSQL
 * commits transactions with notifications one after another in the whole database, so they must be few. They are not part
 * of the writes that they tell of, so that no write to the disk happens under that lock.
 */
export class Outbox {
  /** By channel and subject. */
  readonly #waiting = new Map<string, { readonly channel: string; readonly payload: string }>();
  #isSending = false;

  constructor(private readonly calls: Pick<Calls, 'runAnyway'>) {}

  /**
   * Does not wait for the server, because messages are only hints.
   *
   * @param subject a later message replaces an earlier one with the same subject, which was not sent yet
   */
  send(channel: string, subject: string, payload: string): void {
    const place = `${channel} ${subject}`;
    if (this.#waiting.size >= MOST_WAITING) return;
    this.#waiting.delete(place);
    this.#waiting.set(place, { channel, payload });
    if (!this.#isSending) void this.#sendAll();
  }

  async #sendAll(): Promise<void> {
    this.#isSending = true;
    while (this.#waiting.size > 0) {
      const some = [...this.#waiting].slice(0, MOST_AT_ONCE);
      for (const [subject] of some) this.#waiting.delete(subject);
      const sent = some.map(([, each]) => each);
      const values = [sent.map(({ channel }) => channel), sent.map(({ payload }) => payload)];
      // Only hints; calls find out what is wrong with the server. Clients send them before calls may be made, too.
      await this.calls.runAnyway(NOTIFY, values).catch(() => undefined);
    }
    this.#isSending = false;
  }
}

interface Reactions {
  /** A notification. @param payload its text */
  readonly message: (payload: string) => void;
  /** Notifications arrive from now on. */
  readonly connected: () => void;
}

interface Needs {
  readonly channels: readonly string[];
  /** @throws if there is no connection now */
  readonly connect: (deadline: Deadline) => Promise<PgConnection>;
  /** Sends a notification to this client over another connection. */
  readonly ping: () => void;
  /** The end of a test, or of an attempt to connect, that begins now. */
  readonly deadline: () => Deadline;
  readonly closing: AbortSignal;
}

/**
 * Listens on a connection of its own, and opens another one whenever it ends. The connection counts only once a
 * notification of this client has arrived, and that is tested again every {@link HEARTBEAT} ms: a transaction pooler
 * accepts LISTEN, but delivers nothing, and a dead network may end a connection without a sign.
 */
export class Listener {
  #isConnected = false;
  #failures = 0;
  readonly #pong = new Wakeup(systemClock);
  readonly #haste = new Wakeup(systemClock);
  readonly firstAttempt = new FirstAttempt();
  /** Resolves when the connection is closed, after the closing signal. */
  readonly ended: Promise<void>;

  constructor(
    private readonly needs: Needs,
    private readonly on: Reactions,
  ) {
    this.ended = this.#keepListening();
  }

  /** Whether notifications arrive. */
  get isConnected(): boolean {
    return this.#isConnected;
  }

  /** Call this when the answer to a ping has arrived. */
  readonly ponged = (): void => this.#pong.ring();

  /** Tries again now, because the server has just answered. */
  readonly hurry = (): void => this.#haste.ring();

  async #keepListening(): Promise<void> {
    const { closing } = this.needs;
    closing.addEventListener('abort', this.hurry, { once: true });
    while (!closing.aborted) {
      this.#haste.reset();
      await this.#listen().catch(() => undefined); // clients then poll, until another connection listens
      this.#isConnected = false;
      this.firstAttempt.end();
      if (!closing.aborted) await this.#haste.wait(pauseAfter(this.#failures++, Math.random(), RECONNECT), false);
    }
  }

  async #listen(): Promise<void> {
    const deadline = this.needs.deadline();
    const connection = await this.needs.connect(deadline);
    const lost = new AbortController();
    const lose = () => lost.abort();
    const receive = ({ payload }: { payload: string }) => this.on.message(payload);
    connection.on('error', lose);
    connection.on('end', lose);
    connection.on('notification', receive);
    try {
      for (const channel of this.needs.channels) await deadline.race(connection.query(listenTo(channel)));
      await this.#serve(AbortSignal.any([lost.signal, this.needs.closing]));
    } finally {
      connection.off('notification', receive);
      connection.release(true);
    }
  }

  async #serve(ended: AbortSignal): Promise<void> {
    while (!ended.aborted) {
      await this.#test(ended);
      await pause(systemClock, HEARTBEAT, { signal: ended, isAwaited: false });
    }
  }

  /** @throws DeadlinePassed if this client does not receive its own notification */
  async #test(ended: AbortSignal): Promise<void> {
    this.#pong.reset();
    this.needs.ping();
    ended.addEventListener('abort', this.ponged, { once: true });
    // Node keeps a signal made of others for as long as it has a listener and they live.
    await this.needs
      .deadline()
      .race(this.#pong.wait(undefined, false))
      .finally(() => ended.removeEventListener('abort', this.ponged));
    if (ended.aborted || this.#isConnected) return;
    this.#isConnected = true;
    this.#failures = 0;
    this.on.connected();
    this.firstAttempt.end();
  }
}

const listenTo = (channel: string) => ({ text: `LISTEN "${channel}"`, values: [] });
