import { messageOf } from '../../decision/index.js';
import { aborted, unlessAborted } from './aborted.js';
import { atMost } from '../at-most.js';
import { RECONNECT, pauseAfter } from '../../async/backoff.js';
import { systemClock } from '../../async/node-clock.js';
import { pause } from '../../async/pause.js';
import type { ClientSource, LiveClient } from './client-source.js';
import { forgetLostConnections } from './client-patches/lost-connections.js';
import { failUnsentCalls } from './client-patches/unsent-calls.js';

/** ms; a client of an unreachable network may close slowly, but must not delay the application's shutdown. */
export const LONGEST_CLOSE = 3000;

/** Keeps a session open over the clients of its source, one after another, until it is closed. */
export class Connection<Session> {
  /** Defined only while connected; cleared in the same moment as the connection. */
  session: Session | undefined;
  /** The reason why there is no session. */
  problem: string | undefined = 'the first attempt to connect is under way';
  /** The error of the last attempt, until another one succeeds. */
  failure: unknown;
  /** Resolves when the first attempt is over, with or without success. */
  readonly attempted: Promise<void>;
  /** Whether the first attempt is still under way. */
  isFirstAttempt = true;

  readonly #closing = new AbortController();
  readonly #ended: Promise<void>;
  #endFirstAttempt!: () => void;
  #failures = 0;

  constructor(
    readonly source: ClientSource,
    /** `ended` aborts when the session is over, or the attempt to open it. */
    readonly open: (client: LiveClient, ended: AbortSignal) => Promise<Session>,
    readonly onOpened: () => void,
  ) {
    this.attempted = new Promise((resolve) => {
      this.#endFirstAttempt = () => {
        this.isFirstAttempt = false;
        resolve();
      };
    });
    this.#ended = this.#keepConnected();
  }

  /** Resolves when nothing is left open, after {@link LONGEST_CLOSE} ms at the latest: the rest then closes later. */
  async close(): Promise<void> {
    this.#closing.abort();
    this.#endFirstAttempt();
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
        this.#endFirstAttempt();
      }
      await pause(systemClock, pauseAfter(this.#failures++, Math.random(), RECONNECT), { signal });
    }
  }

  /** Uses one client, from the start of its session until it is lost or the store is closed. */
  async #serve(live: LiveClient): Promise<void> {
    const ended = AbortSignal.any([live.lost, this.#closing.signal]);
    // In the event itself: a call made a moment later must not be sent to a cluster that is gone. `once`, or Node keeps
    // the signal for good, and with its reason the client.
    ended.addEventListener('abort', () => (this.session = undefined), { once: true });
    const patches: (() => void)[] = [];
    try {
      for (const patch of [failUnsentCalls, forgetLostConnections]) patches.push(patch(live.client));
      const session = await unlessAborted(this.open(live, ended), ended, 'the connection was lost while it was opened');
      this.#opened(session);
      await aborted(ended);
      this.problem = 'the connection was lost; connecting again';
    } finally {
      this.session = undefined; // set just after the event, when both came in one turn
      for (const end of patches) end();
      await live.release();
    }
  }

  #opened(session: Session): void {
    this.session = session;
    this.problem = this.failure = undefined;
    this.#failures = 0;
    this.#endFirstAttempt();
    this.onOpened();
  }
}
