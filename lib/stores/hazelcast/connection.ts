import { setMaxListeners } from 'node:events';
import { messageOf } from '../../core/decision/index.js';
import { aborted, unlessAborted } from '../../core/async/aborted.js';
import { atMost } from '../../core/store/at-most.js';
import { FirstAttempt } from '../../core/store/first-attempt.js';
import { RECONNECT, pauseAfter } from '../../core/async/backoff.js';
import { systemClock } from '../../core/async/node-clock.js';
import { pause } from '../../core/async/pause.js';
import type { ClientSource, LiveClient } from './client-source.js';
import { closeAfterFailedWrites } from './client-patches/failed-writes.js';
import { forgetLostConnections } from './client-patches/lost-connections.js';
import { failUnsentCalls } from './client-patches/unsent-calls.js';

/** ms. A client in an unreachable network may close slowly, but must not delay the application's shutdown. */
export const LONGEST_CLOSE = 3000;

const PATCHES = [failUnsentCalls, closeAfterFailedWrites, forgetLostConnections];

/** Keeps a session open until it is closed. Uses the clients of its source, one after another. */
export class Connection<Session> {
  /** Defined only while connected. Cleared at the moment when the connection is lost. */
  session: Session | undefined;
  /** The reason why there is no session. */
  problem: string | undefined = 'the first attempt to connect is under way';
  /** The error of the last attempt, until an attempt succeeds. */
  failure: unknown;
  readonly firstAttempt = new FirstAttempt();

  readonly #closing = new AbortController();
  readonly #ended: Promise<void>;
  #failures = 0;

  constructor(
    readonly source: ClientSource,
    /** `ended` aborts when the session, or the attempt to open it, has ended. */
    readonly open: (client: LiveClient, ended: AbortSignal) => Promise<Session>,
    readonly onOpened: () => void,
  ) {
    this.#ended = this.#keepConnected();
  }

  /** Whether {@link close} was called. */
  get isClosed(): boolean {
    return this.#closing.signal.aborted;
  }

  /** Resolves when everything is closed, at the latest after {@link LONGEST_CLOSE} ms; the rest then closes later. */
  async close(): Promise<void> {
    this.#closing.abort();
    this.firstAttempt.end();
    await atMost(LONGEST_CLOSE, this.#ended);
  }

  async #keepConnected(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      try {
        await this.#serve(await this.source.connect());
      } catch (error) {
        this.problem = messageOf(error);
        this.failure = error;
        this.firstAttempt.end();
      }
      await pause(systemClock, pauseAfter(this.#failures++, Math.random(), RECONNECT), { signal });
    }
  }

  /** Uses one client, from the start of its session until it is lost or the store is closed. */
  async #serve(live: LiveClient): Promise<void> {
    const ended = AbortSignal.any([live.lost, this.#closing.signal]);
    setMaxListeners(0, ended); // each waiting poll listens
    // Cleared in the event itself, so that the next call is not sent to a lost cluster. With `once`, because otherwise
    // Node keeps the signal for ever, and with its reason the client.
    ended.addEventListener('abort', () => (this.session = undefined), { once: true });
    const patches: (() => void)[] = [];
    try {
      for (const patch of PATCHES) patches.push(patch(live.client));
      const session = await unlessAborted(this.open(live, ended), ended, 'the connection was lost while it was opened');
      this.#opened(session);
      await aborted(ended);
      this.problem = 'the connection was lost; connecting again';
    } finally {
      this.session = undefined; // `#opened` may have run after the abort event, in the same turn of the event loop
      for (const end of patches) end();
      await live.release();
    }
  }

  #opened(session: Session): void {
    this.session = session;
    this.problem = this.failure = undefined;
    this.#failures = 0;
    this.firstAttempt.end();
    this.onOpened();
  }
}
